# Proxies in front of this nginx that have checked who the client is and say so in X-Tenant.
# One line an address or network, as nginx sees the connection: the address, 1, a semicolon.
# Such a proxy must remove an X-Tenant that came from outside.
#
# 10.0.0.5/32    1;
