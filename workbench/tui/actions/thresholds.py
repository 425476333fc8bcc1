"""Setting how an output is decided: its threshold, cuts or weights, kept in the session."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from adapters.requests.decisions import Decision
from workbench.editing import decision_edits
from workbench.output.display import one_line
from workbench.state.document import Place
from workbench.tui.dialogs.choose import ChooseScreen, Entry
from workbench.tui.widgets.text.plain import plain_notify

if TYPE_CHECKING:
    from workbench.tui.host import Host
import math
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input

from workbench.editing.field_values import Choice
from workbench.output.display import safe
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


ABOUT = {
    "noul": "Threshold: true from this probability on",
    "score": "Cuts: the score from which a level is reached",
    "choice": "Weights: times the probability of an option; the greatest wins",
}
NONE_TO_DECIDE = (
    "No output is a decision: Noul, Score and Choice of dspy.experimental are, and a bool or a Literal can be one."
)


async def decide(host: Host, name: str = "") -> None:
    """Asks how an output is decided, first which one where there are several, and keeps it in the session."""
    signature = host.main.engine.signature.signature
    names = decision_edits.decidable(signature) if signature is not None else ()
    if signature is None or not names or (name and name not in names):
        plain_notify(host.app, NONE_TO_DECIDE, title="Nothing to decide", severity="warning")
        return
    if not name and len(names) == 1:
        name = names[0]
    elif not name:
        entries = [Entry(one, one, _now(host, one)) for one in names]
        chosen = await host.app.push_screen_wait(ChooseScreen("How is it decided?", entries))
        if chosen is None:
            return
        name = chosen
    try:
        decision = decision_edits.decision_of(signature, name)
        usual = _numbers(decision, decision_edits.usual_of(signature, name))
    except ValueError as error:
        plain_notify(host.app, f"{error}", title=f"{one_line(name, 40)} cannot be decided", severity="warning")
        return
    rows = [
        Row(label, number, by_itself)
        for label, number, by_itself in zip(
            _labels(decision), _numbers(decision, decision.settings[decision.parameter]), usual, strict=True
        )
    ]

    def refuse(numbers: tuple[float, ...]) -> str:
        return decision_edits.refusal(signature, name, _value(decision, numbers))

    def outcome(numbers: tuple[float, ...]) -> list[str]:
        return _outcomes(host, decision_edits.with_setting(signature, name, _value(decision, numbers)))

    is_optional = decision_edits.is_optional(signature, name)
    is_decided = signature.fields[name].decision is not None if is_optional else None
    title = f"{name}: how it is decided"
    set_ = await host.app.push_screen_wait(
        ThresholdsScreen(title, ABOUT[decision.kind], rows, refuse, outcome, is_decided)
    )
    if set_ is None:
        return
    if not set_.is_decided:
        change = partial(decision_edits.ask_for_itself, name=name)
        host.main.edit(change, Place("signature", field=name), f"{name} is asked for itself")
        return
    value = None if set_.numbers == usual else _value(decision, set_.numbers)
    change = partial(decision_edits.set_parameter, name=name, parameter=decision.parameter, value=value)
    host.main.edit(change, Place("signature", field=name), f"{decision.parameter} of {name}")


def _now(host: Host, name: str) -> str:
    """How an output is decided as the session stands, in a few words."""
    signature = host.main.engine.signature.signature
    assert signature is not None
    if decision_edits.is_optional(signature, name) and signature.fields[name].decision is None:
        return "as the model says it"
    try:
        return decision_edits.decision_of(signature, name).shown_setting
    except ValueError as error:
        return str(error)


def _labels(decision: Decision) -> list[str]:
    """What each number is of: an option, a level above the lowest, or the value."""
    if decision.kind == "noul":
        return ["true from"]
    if decision.kind == "choice":
        return decision.labels
    described = decision.criteria()
    return [f"{level}  {_told(described[int(level)])}" for level in decision.labels[1:]]


def _told(described: Any) -> str:
    return described if isinstance(described, str) else json.dumps(described, ensure_ascii=False)


def _numbers(decision: Decision, setting: Any) -> tuple[float, ...]:
    if decision.kind == "noul":
        return (setting,)
    return tuple(setting) if decision.kind == "score" else tuple([setting.get(one, 1.0) for one in decision.labels])


def _value(decision: Decision, numbers: tuple[float, ...]) -> Any:
    """The numbers as the session has them: a number, a list, or an object by option."""
    if decision.kind == "noul":
        return numbers[0]
    return list(numbers) if decision.kind == "score" else dict(zip(decision.labels, numbers, strict=True))


def _outcomes(host: Host, decision: Decision) -> list[str]:
    """Of each column with evidence in its reply: the evidence, and what it comes to."""
    said: list[str] = []
    for one in host.main.columns.rendered:
        evidence = decision_edits.evidence_in(one.reading, decision)
        if evidence is None:
            continue
        try:
            value = decision.value_of(evidence)
        except Exception as error:  # as in dspy: evidence that decides nothing raises whatever it raises
            said.append(f"{one.column.id}: {error}")
            continue
        decided = value if decision.is_plain else value.value
        level = f", level {value.level}" if decision.kind == "score" else ""
        told = f"{decided:.3g}" if isinstance(decided, float) else decided
        said.append(f"{one.column.id}: {_shares(decision, evidence)} → {told}{level}")
    return said


def _shares(decision: Decision, evidence: Any) -> str:
    """The probabilities in a few words: `0.62`, or `billing 0.7, technical 0.3`."""
    plain = evidence.model_dump(by_alias=True) if hasattr(evidence, "model_dump") else evidence
    if decision.kind == "noul":
        return f"{plain['noul']:g}"
    return ", ".join([f"{label} {share:g}" for label, share in plain["probabilities"].items()])
