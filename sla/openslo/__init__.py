"""Own the exchange with OpenSLO v1: a contract's objectives as SLO documents, and back.

OpenSLO knows objectives and no contract around them. What cannot be carried is named, never dropped in
silence; what can be carried comes back as it went.
"""

from sla.openslo.exporting import Exported, export_openslo
from sla.openslo.importing import Imported, import_openslo

__all__ = ["Exported", "Imported", "export_openslo", "import_openslo"]
