"""The key that the screen names for an action is one that a terminal sends."""

from __future__ import annotations

from textual._xterm_parser import XTermParser
from textual.binding import Binding
from textual.events import Key

from workbench.tui.app import WorkbenchApp

FUNCTION_KEYS = ("1{}P", "1{}Q", "1{}R", "1{}S", *(f"{number}{{}}~" for number in (15, 17, 18, 19, 20, 21, 23, 24)))
"""What a terminal of the xterm family sends for F1 to F12 behind `ESC [`; `{}` is the modifier's place."""


def test_no_action_is_named_by_a_function_key_that_reaches_no_program() -> None:
    """shift+F3 is sent as the terminal's answer to the question where its cursor stands, and is read as that."""
    arriving = {"f1", "f2", "f3", "f4"}
    for sent in FUNCTION_KEYS:
        for modifier in ("", *[f";{number}" for number in range(2, 9)]):
            events = XTermParser().feed("\x1b[" + sent.format(modifier))
            arriving |= {event.key for event in events if isinstance(event, Key)}
    assert {"f5", "shift+f8", "shift+f11"} < arriving
    assert "shift+f3" not in arriving
    named = [one.key.split(",")[0] for one in WorkbenchApp.BINDINGS if isinstance(one, Binding)]
    used = {key for key in named if key.rpartition("+")[2].removeprefix("f").isdigit()}
    assert len(used) > 10
    assert used <= arriving
