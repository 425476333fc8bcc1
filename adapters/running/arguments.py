"""Check the options of a run, and name the wrong one before anything is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any

from adapters.prompts.text import Prompt
from adapters.requests.capabilities import Capabilities
from adapters.tools.tools import RunTool, Tools


def kind_of(given: object) -> str:
    """Name what was given instead: `str`, `dspy.LM`, `the class ChatAdapter`."""
    if isinstance(given, type):
        return f"the class {given.__name__}"
    package = type(given).__module__.partition(".")[0]
    name = type(given).__name__
    return name if package in ("builtins", "adapters", "__main__") else f"{package}.{name}"


def is_model(given: object) -> bool:
    """Return whether something has what `adapters.LM` has."""
    names = ("stream", "model", "capabilities")
    return not isinstance(given, type) and all(hasattr(given, name) for name in names)


def check(options: Mapping[str, object]) -> None:
    """Raise TypeError or ValueError for an unknown or a wrong option of `adapters.run`."""
    for name, given in options.items():
        if name not in EXPECTED:
            raise TypeError(
                f"run() has no option {name!r}; parameters of the model are given as params={{{name!r}: …}}, "
                f"and the options are {', '.join(EXPECTED)}"
            )
        fits, expected = EXPECTED[name]
        if not fits(given):
            kind = ValueError if isinstance(given, Real) and name in NUMBERS else TypeError
            told = repr(given) if kind is ValueError else kind_of(given)
            raise kind(f"{name}: expected {expected}, got {told}")


def _is_whole(given: object, least: int) -> bool:
    return isinstance(given, Integral) and not isinstance(given, bool) and int(given) >= least


def _is_seconds(given: object) -> bool:
    return given is None or (isinstance(given, Real) and not isinstance(given, bool))


def _is_tools(given: object) -> bool:
    return given is None or (isinstance(given, Tools) and all(isinstance(one, RunTool) for one in given.tools))


NUMBERS = ("n", "retries", "ask_again")
"""Options whose numbers have a least value."""

TOOLS = (
    "adapters.tools.tools.Tools((RunTool('name', 'description', {'type': 'object', 'properties': {…}}, answer),)), "
    "where `answer` is a function of the dict of arguments"
)

Fits = Callable[[Any], bool]

EXPECTED: Mapping[str, tuple[Fits, str]] = MappingProxyType(
    {
        "params": (lambda given: isinstance(given, Mapping), "a dict such as {'temperature': 0.2}"),
        "n": (lambda given: given is None or _is_whole(given, 1), "a whole number from 1 on, or None"),
        "deadline_s": (_is_seconds, "seconds as a number, or None"),
        "cancel": (lambda given: given is None or hasattr(given, "is_set"), "a threading.Event, or None"),
        "retries": (lambda given: _is_whole(given, 0), "a whole number from 0 on"),
        "ask_again": (lambda given: _is_whole(given, 0), "a whole number from 0 on"),
        "tools": (_is_tools, TOOLS),
        "extraction_lm": (
            lambda given: given is None or is_model(given),
            "a model of adapters.open_model(…), or an object with `stream`, `model` and `capabilities`",
        ),
        "capabilities": (
            lambda given: given is None or isinstance(given, Capabilities),
            "adapters.Capabilities(…), or None",
        ),
        "listeners": (lambda given: isinstance(given, Iterable) and not isinstance(given, str), "a list of functions"),
        "raw": (lambda given: isinstance(given, bool), "True or False"),
        "held": (lambda given: isinstance(given, bool), "True or False"),
        "reuse": (lambda given: given is None or isinstance(given, Prompt), "an earlier adapters.Prompt, or None"),
        "clock": (callable, "a function that returns seconds"),
    }
)
"""A test and a description for each option."""
