"""Own whose request a line is: by its API key, its certificate, what the gateway says, or its path."""

from collectors.gateway.tenants.configuration import TenantSection
from collectors.gateway.tenants.key_file import KeyFile
from collectors.gateway.tenants.tenancy import Tenancy, tenancy_of

__all__ = ["KeyFile", "Tenancy", "TenantSection", "tenancy_of"]
