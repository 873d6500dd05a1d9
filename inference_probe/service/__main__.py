"""Own the start of the service under vLLM's Python: ``python …/inference_probe/service/__main__.py``.

The folder that holds Fairclock may be the site-packages of another environment, so it is never put on the path, where
its packages would hide vLLM's own: the one package that is needed is made known by its folder.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

_HERE = Path(__file__).resolve().parent

if "inference_probe" not in sys.modules:
    # Python puts a program's own folder first: the modules in it must not stand for others of the same name
    sys.path[:] = [folder for folder in sys.path if Path(folder or ".").resolve() != _HERE]
    package = ModuleType("inference_probe")
    package.__path__ = [str(_HERE.parent)]
    sys.modules["inference_probe"] = package

if __name__ == "__main__":  # vLLM's own processes read this file again under another name
    from inference_probe.service.running import main

    sys.exit(main(sys.argv[1:]))
