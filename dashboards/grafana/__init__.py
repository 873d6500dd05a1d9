"""Own how a dashboard becomes grafanalib objects and the JSON of today's Grafana.

grafanalib writes the JSON of an older Grafana, of which today's reads most after a migration in the browser. What it has
that still holds (dashboards, panels and their ids, variables, links) is used; this layer gives panels today's types and
options, names data sources by uid, stamps today's schema version, and leaves out what Grafana has forgotten.
"""
