"""Own the Grafana dashboards: what each shows, the JSON that is made of it, and the check that the two agree.

`specification` has the words of this package; `overview`, `tenant`, `engines` and `cost` say what is shown and by which
query; `grafana` makes grafanalib objects of it, and of these the JSON of today's Grafana; `building` writes the files.
"""
