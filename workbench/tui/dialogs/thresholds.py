"""How one output is decided: its threshold, cuts or weights, and what the replies on screen come to with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input

from workbench.editing.field_values import Choice
from workbench.output.display import one_line, safe
from workbench.tui.keys.key_words import keys_of
from workbench.tui.widgets.choice_line import ChoiceLine
from workbench.tui.widgets.text.plain import PlainStatic, content, lines

_GROUP = Binding.Group("This dialog")
DECIDED = (Choice(True, "decided by probability"), Choice(False, "as the model says it"))


class Row(NamedTuple):
    """A number to set: what it is of, what is set, and what holds where nothing is."""

    label: str
    value: float
    usual: float


class Setting(NamedTuple):
    """What was set: a number for each row; not `is_decided` for an output that is asked for itself."""

    numbers: tuple[float, ...]
    is_decided: bool


class NoNumberError(ValueError):
    """A line that holds no number; the message says which, and what would work."""


class ThresholdsScreen(ModalScreen[Setting | None]):
    """Returns what was set, None after escape. `refuse` says why numbers will not do; empty when they do.

    `outcome` is a line for each reply that there is evidence of, and is asked again at each key. `is_decided` is None
    for an output that is a decision by its type.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape",
            "dismiss(None)",
            "Close",
            id="thresholds.close",
            tooltip="Close, nothing changes",
            group=_GROUP,
        ),
        Binding(
            "enter",
            "take",
            "Take",
            priority=True,
            id="thresholds.take",
            tooltip="Keep them in the session",
            group=_GROUP,
        ),
        Binding(
            "down", "app.focus_next", "Down", show=False, id="thresholds.down", tooltip="The next number", group=_GROUP
        ),
        Binding(
            "up",
            "app.focus_previous",
            "Up",
            show=False,
            id="thresholds.up",
            tooltip="The number before",
            group=_GROUP,
        ),
    ]

    def __init__(
        self,
        title: str,
        about: str,
        rows: Sequence[Row],
        refuse: Callable[[tuple[float, ...]], str],
        outcome: Callable[[tuple[float, ...]], Sequence[str]],
        is_decided: bool | None = None,
    ) -> None:
        super().__init__()
        self._title = title
        self._about = about
        self._rows = tuple(rows)
        self._refuse = refuse
        self._outcome = outcome
        self._is_optional = is_decided is not None
        self._is_decided = is_decided is not False
        self._line = ChoiceLine(DECIDED, self._is_decided, self._choose)
        self._inputs = tuple([Input(shown(one.value), compact=True, placeholder=shown(one.usual)) for one in rows])
        self._scroll = VerticalScroll(classes="thresholds-rows", can_focus=False)
        self._outcomes = PlainStatic(classes="thresholds-outcomes")
        self._error = PlainStatic(classes="field-error")

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content(f" {one_line(self._title, 60)} ")
            if self._is_optional:
                yield self._line
            yield PlainStatic(self._about, classes="field-label")
            with self._scroll:
                for row, typed in zip(self._rows, self._inputs, strict=True):
                    with Horizontal(classes="thresholds-row"):
                        yield PlainStatic(one_line(safe(row.label), 200), classes="thresholds-label")
                        yield typed
            yield self._outcomes
            yield self._error
            hint = keys_of(self.app)(
                "↑↓ to the next   empty: the usual   {thresholds.take|enter} keeps   {thresholds.close|esc} closes"
            )
            yield PlainStatic(lines((hint, "$foreground 60%")), classes="dialog-hint")

    def on_mount(self) -> None:
        self._follow()
        (self._inputs[0] if self._is_decided else self._line).focus()

    @on(Input.Changed)
    def _typed(self) -> None:
        self._error.show("")
        self._follow()

    def action_take(self) -> None:
        if not self._is_decided:
            self.dismiss(Setting((), False))
            return
        try:
            numbers = self._numbers()
        except NoNumberError as error:
            self._error.show(f"✗ {error}")
            return
        refused = self._refuse(numbers)
        if refused:
            self._error.show(f"✗ {refused}")
        else:
            self.dismiss(Setting(numbers, True))

    def _choose(self, value: Any) -> None:
        self._is_decided = value is True
        self._line.show(self._is_decided)
        self._follow()

    def _follow(self) -> None:
        """What the replies on screen come to with the numbers as they stand."""
        self._scroll.display = self._is_decided
        try:
            numbers = self._numbers()
            said = () if not self._is_decided or self._refuse(numbers) else self._outcome(numbers)
        except NoNumberError:
            said = ()
        self._outcomes.show("\n".join([one_line(one, 200) for one in said]))
        self._outcomes.display = bool(said)

    def _numbers(self) -> tuple[float, ...]:
        """Raises NoNumberError."""
        return tuple([_number(one.value, row) for one, row in zip(self._inputs, self._rows, strict=True)])


def shown(number: float) -> str:
    """A number as it is typed, without a zero behind the point that says nothing.

    >>> [shown(one) for one in (0.5, 1.0, 2, 1e-7)]
    ['0.5', '1', '2', '1e-07']
    """
    return f"{number:.0f}" if number == int(number) and abs(number) < 1e9 else repr(number)


def _number(text: str, row: Row) -> float:
    if not text.strip():
        return row.usual
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise NoNumberError(f"{one_line(text, 30)} is no number: write one such as {shown(row.usual)}")
    return number
