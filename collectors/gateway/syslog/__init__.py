"""Own how a gateway's lines arrive as syslog messages, as nginx's ``access_log syslog:`` sends them."""

from collectors.gateway.syslog.receiver import SyslogReceiver
from collectors.gateway.syslog.statistics import SyslogStatistics

__all__ = ["SyslogReceiver", "SyslogStatistics"]
