"""Own the console's pages: a reading and how it is looked at in, one HTML page out."""

from fairclock.console.pages.problems import problem_page
from fairclock.console.pages.routes import routes

__all__ = ["problem_page", "routes"]
