"""Ask a model to rewrite the instructions or a field's description, using a temporary session.

The request is an ordinary signature, sent with `sending.send`. The user's session does not change until a rewrite is
accepted and saved as a variant.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Sequence
from itertools import accumulate, product, zip_longest

from adapters.errors import SignatureError
from adapters.formats.catalog import UnknownAdapterError
from adapters.late_dataclasses import dataclass
from adapters.lm import ProviderError
from adapters.requests.request import read_reply
from adapters.running.events import Listener
from adapters.running.runs import Run
from adapters.values.custom_types import BuildError
from adapters.values.plain_json import plain
from sessions.bench.grid import Grid, misses_by_cause
from sessions.bench.results import cause_of
from sessions.checking import expectations
from sessions.model import variants
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.running import rendering
from sessions.text_diff import line_diff
from workbench.config.confinement import FREE, NOTHING_MORE, Allowed, Confinement
from workbench.output.display import cut
from workbench.sending import sending

SIGNATURE = '''\
class Rewrite(dspy.Signature):
    """You improve one text of a prompt for a language model. Rewrite it so that the failures below would not have
    happened and everything else stays right. Keep what the author says, every rule and every name; add no facts, no
    examples of your own and no remarks. Give nothing but the text that takes its place."""

    program: str = dspy.InputField(desc="the whole signature that the text belongs to, as Python")
    which: str = dspy.InputField(desc="which of its texts is to be rewritten")
    text: str = dspy.InputField(desc="that text as it is")
    wish: str = dspy.InputField(desc="what its author wants of the rewrite")
    failures: list[str] = dspy.InputField(desc="cases that went wrong: inputs, reply, and what is wrong with it")
    rewrite: str = dspy.OutputField(desc="the text that takes its place, and nothing else")
'''
USUAL_WISH = "Make it clear and complete, and no longer than it has to be."
MOST_FAILURES = 6
MOST_SHOWN = 24_000
"""Maximum characters of bench failures shown to the model, about 6,000 tokens."""
LONGEST_PART = 1_500
LONGEST_PROGRAM = 20_000
"""Maximum characters of the signature shown to the model; `LONGEST_PART` limits each input and reply."""

TAG = "suggested"
NAME = "rewrite"


class SuggestionError(Exception):
    """Why there is no rewrite."""


@dataclass(frozen=True)
class Failing:
    """A wrong reply, its case and column, and the reasons why it is wrong."""

    case: Case
    column: str
    reply: str
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        inputs = "\n".join(f"{name}: {_cut(_shown(value))}" for name, value in self.case.inputs.items())
        return f"{inputs}\nreply: {_cut(self.reply)}\nwrong: {'; '.join(map(_cut, self.reasons))}"


@dataclass(frozen=True)
class Suggestion:
    """A rewrite of the text named `of`, its text `before`, and the `run` that produced it."""

    of: str
    before: str
    text: str
    run: Run

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the change as a line diff."""
        return line_diff(self.before.splitlines(), self.text.splitlines())


def failing(session: Session) -> tuple[Failing, ...]:
    """Return the session's replies that do not parse or fail an expectation, in case order.

    Raises `SignatureError`.
    """
    session.signature.read()
    found: list[Failing] = []
    for case, column in product(session.cases, session.columns):
        reply = case.replies.get(column.id)
        if reply is None or reply.raw:
            continue
        try:
            request = rendering.request_of(session, column, case)
            reading = read_reply(rendering.adapter_of(column), request, reply.text)
        except Exception:  # skip a column without a prompt
            continue
        expect = dict(expectations.column_expectations(case.expect, column.id))
        if reading.error is not None and expect.get("reply") != "does_not_parse":
            reasons = [f"{reading.error.type}: {reading.error.message}"]
        else:
            known = {key: value for key, value in expect.items() if key in ("reply", "fields")}
            reasons = [
                f"{one.place} {one.message}, expected {_shown(one.expected)}, got {_shown(one.found)}"
                for one in expectations.judge(known, reading)
            ]
        if reasons:
            found.append(Failing(case, column.id, reply.text, tuple(reasons)))
    return tuple(found)


def failing_in(session: Session, grid: Grid, shown: Collection[tuple[str, str]]) -> tuple[Failing, ...]:
    """Return a bench's misses in the cases `shown`: the first of each cause, then the second, up to `MOST_SHOWN`."""
    cases = {one.name: one for one in session.cases}
    groups: list[list[Failing]] = []
    for group in misses_by_cause(grid):
        found = []
        for cell in group.cells:
            if (cell.file, cell.case) not in shown or cell.case not in cases:
                continue
            run = next((one for one in cell.runs if cause_of(one) == group.cause), None)
            if run is not None and run.reply is not None:
                reasons = (group.cause, *run.failures) if run.error is None else (group.cause, run.error)
                found.append(Failing(cases[cell.case], cell.column, run.reply.text, reasons))
        groups.append(found)
    by_turns = [one for turn in zip_longest(*groups) for one in turn if one is not None]
    sizes = accumulate(len(str(one)) for one in by_turns)
    return tuple([one for one, size in zip(by_turns, sizes, strict=True) if size <= MOST_SHOWN])


def scratch(session: Session, of: str, model: str, wish: str = "", failures: Iterable[Failing] = ()) -> Session:
    """Make the temporary session that asks for the rewrite, with one column and one case.

    It uses the address that `send` would use for this model. Raises `VariantError` if `of` does not name a text of the
    signature, and `SignatureError`.
    """
    before = text_of(session, of)
    which = "the instructions" if of == variants.INSTRUCTIONS else f"the description of `{of.split('.')[1]}`"
    inputs = {
        "program": session.signature.text[:LONGEST_PROGRAM],
        "which": which,
        "text": before,
        "wish": wish.strip() or USUAL_WISH,
        "failures": [str(one) for one in failures],
    }
    column = Column(NAME, "chat", model=model, params=sending.connection_for(session, model))
    return Session(SignatureText(SIGNATURE, "Rewrite"), columns=(column,), cases=(Case(NAME, inputs),), model=model)


def ask(
    session: Session,
    of: str,
    model: str,
    wish: str = "",
    *,
    failures: Sequence[Failing] | None = None,
    listeners: Iterable[Listener] = (),
    cancel: threading.Event | None = None,
    allowed: Allowed = NOTHING_MORE,
    deadline_s: float | None = None,
    confinement: Confinement = FREE,
) -> Suggestion:
    """Ask `model` to rewrite the text `of` (`instructions` or `fields.NAME.desc`), without changing the session.

    The request includes `failures`, by default the session's first wrong replies. Raises `VariantError` before any
    call, and `SuggestionError`.
    """
    try:
        shown = failing(session)[:MOST_FAILURES] if failures is None else failures
        asked = scratch(session, of, model, wish, shown)
        (column,), (case,) = asked.columns, asked.cases
        run = sending.send(
            asked,
            column,
            case,
            listeners=listeners,
            cancel=cancel,
            allowed=allowed,
            deadline_s=deadline_s,
            confinement=confinement,
        )
    except (SignatureError, ProviderError, UnknownAdapterError, BuildError, expectations.ExpectationError) as error:
        raise SuggestionError(str(error)) from error
    if run.error is not None:
        raise SuggestionError(run.error.message)
    text = str(run.values["rewrite"]).strip()
    before = text_of(session, of)
    if not text:
        raise SuggestionError("the model gave an empty text")
    if text == before.strip():
        raise SuggestionError("the model left the text as it is")
    return Suggestion(of, before, text, run)


def text_of(session: Session, of: str) -> str:
    before = variants.original_of(session.signature.read(), of)
    if before is None:
        known = ", ".join(variants.targets(session.signature.read()))
        raise variants.VariantError(f"there is nothing called {of[:80]!r} to rewrite; there are {known}")
    return before


def _shown(value: object) -> str:
    return value if isinstance(value, str) else str(plain(value))


def _cut(text: str) -> str:
    return cut(text, LONGEST_PART, " … ({} more)")
