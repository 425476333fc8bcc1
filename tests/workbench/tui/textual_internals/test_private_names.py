"""Private names of Textual are used in one folder, and each of them is there in the Textual that is installed."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import workbench.tui

HOME = "workbench.tui.textual_internals"
OF_PYTHON = {"_replace", "_asdict", "_fields", "_exit"}
"""Of named tuples, and `os._exit`: private by their underscore alone."""

USED: dict[str, set[str]] = {
    "textual.app.App": {
        *("_handle_exception", "_notifications", "_register_child", "_unnotify"),
    },
    "textual.dom.DOMNode": {"_bindings"},
    "textual.drivers.web_driver.WebDriver": {"_write"},
    "textual.message_pump.MessagePump": {"_dispatch_message"},
    "textual.screen.Screen": {"_compositor"},
    "textual.widget.Widget": {
        *("_border_subtitle", "_border_title", "_repaint_required", "_scroll_update", "_size_updated"),
    },
    "textual._compositor.Compositor": {
        *("_dirty_regions", "_full_map", "_full_map_invalidated", "_get_renders", "_visible_map"),
    },
    "textual.document._wrapped_document.WrappedDocument": {
        *("_offset_to_line_info", "_line_index_to_offsets", "_width"),
    },
    "textual.widgets._text_area.TextArea": {"_draw_cursor", "_line_cache", "_refresh_size", "_render_line"},
}
"""The private names that the folder uses, by the class of Textual that has them."""


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in OF_PYTHON


def modules() -> list[str]:
    found = pkgutil.walk_packages(workbench.tui.__path__, "workbench.tui.")
    return [one.name for one in found if one.name != "workbench.tui.keys"]


@cache
def names_of(cls: type) -> frozenset[str]:
    """The private names that a class has itself: in its body, and on `self` in its methods."""
    found = {name for name in vars(cls) if is_private(name)}
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own(node.value):
            found |= {node.attr} if is_private(node.attr) else set()
    return frozenset(found)


def is_own(node: ast.expr) -> bool:
    """Whether an expression is the object itself: `self`, `cls` or `super()`."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def of_textual(cls: type) -> list[type]:
    return [one for one in cls.__mro__ if one.__module__.startswith("textual")]


def used_by(cls: type) -> Iterator[tuple[str, str]]:
    """The private names of its bases in Textual that a class of ours overrides, sets or reads, with the base's name."""
    owners = {name: base for base in reversed(of_textual(cls)) for name in names_of(base)}
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)
    mine = {node.attr for node in ast.walk(body) if isinstance(node, ast.Attribute) and is_own(node.value)}
    for node in body.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            mine.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            mine |= {one.id for one in targets if isinstance(one, ast.Name)}
    for name in sorted(mine & owners.keys()):
        yield f"{owners[name].__module__}.{owners[name].__name__}", name


def classes_of(module: str) -> list[type]:
    found = vars(importlib.import_module(module)).values()
    return [one for one in found if isinstance(one, type) and one.__module__ == module and of_textual(one)]


def test_textual_still_has_the_private_names() -> None:
    for owner, names in USED.items():
        module, _, cls = owner.rpartition(".")
        bases = of_textual(getattr(importlib.import_module(module), cls))
        assert sorted(names.difference(*map(names_of, bases))) == [], owner


def test_the_table_of_private_names_is_whole_and_short() -> None:
    assert sum(map(len, USED.values())) <= 25
    found: set[str] = set()
    for module in [one for one in modules() if one.startswith(HOME)]:
        found |= {name for cls in classes_of(module) for _, name in used_by(cls)}
        tree = ast.parse(Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8"))
        attributes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        found |= {node.attr for node in attributes if is_private(node.attr) and not is_own(node.value)}
    assert found == set().union(*USED.values())


def test_no_other_file_uses_a_private_name_of_textual() -> None:
    found = {module: private_names_in(module) for module in modules() if not module.startswith(HOME)}
    assert {module: names for module, names in found.items() if names} == {}


def private_names_in(module: str) -> list[str]:
    found = [f"{cls.__name__}: {owner}.{name}" for cls in classes_of(module) for owner, name in used_by(cls)]
    tree = ast.parse(Path(str(sys.modules[module].__file__)).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr) and not is_own(node.value):
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual") and "._" in str(node.module):
            found.append(f"line {node.lineno}: from {node.module}")
    return found
