"""Functions of the user's own that judge values, named on the command line as `module:function`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.config import user_code
from workbench.output.exit_codes import CommandError


@dataclass(frozen=True)
class UserCheck:
    """`function(inputs, values)` says whether values are right: True or None, False, or a text that says why not."""

    name: str
    function: Callable[[Mapping[str, Any], Mapping[str, Any]], Any]

    def why_not(self, inputs: Mapping[str, Any], values: Mapping[str, Any]) -> str:
        """Why the values are not right; empty when they are. What the function raises is a reason too."""
        try:
            said = self.function(inputs, values)
        except Exception as error:  # a function of the user's own may raise anything
            return f"{type(error).__name__}: {error}"
        if isinstance(said, str):
            return said
        return "" if said is None or said else f"said {said!r}"


def checks(names: Iterable[str]) -> tuple[UserCheck, ...]:
    """The functions of these names, which were typed on the command line: nothing else is ever imported.

    Raises `CommandError` for what cannot be imported or is no function.
    """
    found: dict[str, UserCheck] = {}
    for name in names:
        module, _, function = name.partition(":")
        if not (module and function):
            raise CommandError(f"--expect {name}: write module:function, e.g. my_checks:total_is_right")
        found[name] = UserCheck(name, user_code.function(name, f"--expect {name}"))
    return tuple(found.values())
