"""Own the shapes of what the console shows, a module a page. The API returns them, the pages render them.

Every model is frozen. Units stand in names; money is decimal text; None is "not known", never zero. `measured` says
how a figure came about: pages link it to ``/method#ANCHOR``. Times are aware, in UTC; a contract's zone stands beside.
"""
