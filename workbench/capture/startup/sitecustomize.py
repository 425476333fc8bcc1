"""Runs at the start of every Python that `workbench capture` starts, whatever is installed there.

This folder is first on `PYTHONPATH`, so that Python finds this `sitecustomize`. It then removes the folder from the
path and runs the program's own `sitecustomize`, if there is one.
"""

from __future__ import annotations

import importlib.util
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


try:
    folder = os.path.join(os.path.dirname(_HERE), "in_your_process")
    name = "_workbench_capture"  # no program uses it
    spec = importlib.util.spec_from_file_location(
        name, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    assert spec is not None and spec.loader is not None
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    importlib.import_module(f"{name}.attaching").from_environment()
except Exception as error:  # the program comes first
    sys.stderr.write(f"workbench capture: nothing is captured: {type(error).__name__}: {error}\n")
# Import the `sitecustomize` that this module hides, if any, in its place
this = sys.modules.pop("sitecustomize")
sys.path[:] = [one for one in sys.path if os.path.abspath(one or os.curdir) != _HERE]
try:
    importlib.import_module("sitecustomize")
except ImportError as error:
    if error.name != "sitecustomize":
        raise
    sys.modules.setdefault("sitecustomize", this)
