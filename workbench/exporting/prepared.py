"""Prepare all data that a page can show: cases, signatures and replies, for every column, and the page's small parts.

Replies come from the session and the offline models. No model is called over a network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import NamedTuple

from adapters.display.as_html import Element, tag
from adapters.errors import SignatureError
from adapters.formats.chat import ChatAdapter
from adapters.formats.two_step import extraction_signature
from adapters.json_text.repair_limits import one_reading
from adapters.late_dataclasses import dataclass, replace
from adapters.lm.offline import NAMES, OfflineLM
from adapters.lm.protocol import ProviderError
from adapters.replies.reading import Reading
from adapters.requests.request import Request, prepare
from adapters.signatures.outline import outline_of
from adapters.signatures.outline_edits import NewMember, set_member
from sessions.exports.exported import ExportError, Source, View
from sessions.model.replies import Answer, Extraction
from sessions.model.session import Case, Column, Session, SignatureText
from sessions.model.variants import VariantError
from sessions.running.recording import is_outdated, read_completion
from workbench.output.display import cut

KEPT = "the session's own"
"""The name of the session's replies in the list with the offline models."""
NO_REPLY = "There is no reply here."
MOST_CASES = 12
MOST_READINGS = 120
"""The most combinations of column, case, signature and reply; beyond it the last offline models are left out."""
MOST_ASKED = 20_000_000
"""The total number of characters in prompts for offline models."""
TELLING = ("exact", "sloppy", "truncated", "chatty", "mistyped", "fenced", "missing", "thinking")
"""The offline models that are left out last."""


class Wording(NamedTuple):
    """A signature to choose on the page: its name, and the session with it."""

    name: str
    session: Session


@dataclass(frozen=True)
class Shown:
    """A reply with its parse result."""

    answer: Answer
    reading: Reading
    is_old: bool = False
    """True if it answers another prompt or model than the one beside it."""


class Prepared:
    """A session as shown on a page: `replies` names the sources of replies, `left_out` the omitted parts.

    Views and replies are computed lazily and cached. Raises SignatureError for an invalid signature.
    """

    def __init__(self, source: Source) -> None:
        self.name = source.name
        self.session = source.first.session
        self.columns = source.columns
        self.cases = source.cases[:MOST_CASES]
        self.left_out: list[str] = []
        if len(source.cases) > MOST_CASES:
            self.left_out.append(f"{len(source.cases) - MOST_CASES} cases after the first {MOST_CASES}")
        self._code = source.first.code
        self.session.signature.read()
        other = next(_changed_types(self.session), None)
        self.wordings: tuple[Wording, ...] = (Wording("as it is", self.session), *([other] if other else []))
        self._views: dict[tuple[int, int, int], View] = {}
        self._shown: dict[tuple[int, int, int, int], Shown | str] = {}
        has_own = any(_kept(case, column) is not None for case in self.cases for column in self.columns)
        own = (KEPT,) if has_own else ()
        each = len(self.columns) * len(self.cases) * len(self.wordings)
        first = self.request(0, 0, 0)
        asked = 0 if isinstance(first, str) else each * sum(len(str(one.content)) for one in first.messages)
        room = max(1, min(MOST_READINGS // each - len(own), MOST_ASKED // max(1, asked)))
        models = dict.fromkeys([*[f"offline/{name}" for name in TELLING], *NAMES])
        if room < len(models):
            self.left_out.append(f"the replies of {', '.join([*models][room:])}")
        self.replies = (*own, *[*models][:room])

    def view(self, wording: int, case: int, column: int) -> View:
        """Return the view of a case in a column with a signature."""
        place = wording, case, column
        if place not in self._views:
            session, earlier = self.wordings[wording].session, self.view(wording, case - 1, column) if case else None
            self._views[place] = View(session, self.columns[column], self.cases[case], self._code, earlier)
        return self._views[place]

    def request(self, wording: int, case: int, column: int) -> Request | str:
        """Return the request, or why there is none."""
        try:
            return self.view(wording, case, column).request
        except (ExportError, SignatureError, VariantError) as error:
            return str(error)

    def shown(self, wording: int, case: int, column: int, who: int) -> Shown | str:
        """Return the reply of `who`, parsed by the column's adapter, or why there is none."""
        place = wording, case, column, who
        if place not in self._shown:
            self._shown[place] = self._read(wording, case, column, self.replies[who])
        return self._shown[place]

    def _read(self, wording: int, case: int, column: int, who: str) -> Shown | str:
        request = self.request(wording, case, column)
        if isinstance(request, str):
            return NO_REPLY
        view = self.view(wording, case, column)
        is_old = False
        if who == KEPT:
            answer, own = _kept(view.case, view.column), view.case.replies.get(view.column.id)
            is_old = is_outdated(own, request, view.model)
        else:
            try:
                text = _said(OfflineLM(who, 0).asked_by(view.adapter, request), request.prompt.as_dicts())
                answer = Answer(text)
                if view.adapter.profile.has_second_model:
                    second = prepare(ChatAdapter(), extraction_signature(request.signature), [], {"text": text})
                    extracted = _said(OfflineLM(who, 0).asked_by(ChatAdapter(), second), second.prompt.as_dicts())
                    answer = Answer(text, extraction=Extraction(ChatAdapter.name, extracted))
            except ProviderError as error:  # offline models cannot write a value of this type
                return str(error)
        if answer is None:
            return NO_REPLY
        # another release has no time limit of its own, and a page calls it for two signatures and every case
        with one_reading() if request.whole_call is not None else nullcontext():
            reading = read_completion(view.adapter, request, view.signature, answer)
        return Shown(answer, reading, is_old)


def _said(model: OfflineLM, messages: Sequence[object]) -> str:
    return "".join([chunk.text for chunk in model.stream({"messages": messages})])


def _kept(case: Case, column: Column) -> Answer | None:
    """Return the reply shown in a column, or else its first recorded reply."""
    return case.replies.get(column.id) or case.recorded_reply(column.id)


def _changed_types(session: Session) -> Iterator[Wording]:
    """Yield sessions with the type of an output changed: to str, or from str to `list[str]`; other types first."""
    signature = session.signature
    try:
        outline = outline_of(signature.text)
    except SignatureError:  # the signature is valid, but has no editable outline
        return
    of = outline.class_named(signature.class_name)
    if of is None:
        return
    outputs = [one for one in of.members if one.kind == "output"]
    for member in sorted(outputs, key=lambda one: one.type_text.strip() in ("", "str")):
        before = member.type_text.strip() or "str"
        after = "list[str]" if before == "str" else "str"
        try:
            text = set_member(outline, of, member, NewMember(member.name, "output", after))
            changed: SignatureText = replace(signature, text=text)
            changed.read()
        except SignatureError:  # a decision, or a default of the old type: try the next output
            continue
        yield Wording(f"{member.name}: {before} → {after}", replace(session, signature=changed))


LONGEST_NAME = 1_000


def radios(name: str, title: str, options: Sequence[str]) -> Element:
    """Make radio buttons, for which browsers support the arrow keys."""
    choices = []
    for place, option in enumerate(options):
        is_first = {"checked": ""} if place == 0 else {}
        box = tag("input", {"type": "radio", "name": name, "value": str(place), **is_first})
        choices.append(tag("label", {}, box, tag("span", {}, short(option))))
    return tag("fieldset", {"class": "tabs"}, tag("legend", {}, title), *choices)


def step_button(title: str) -> Element:
    return tag("button", {"type": "button", "class": "step"}, title)


def panel(begins: bool = False) -> Element:
    """Make the lesson's panel and the line that names the highlight; with `begins` the page opens on the lesson."""
    back, on, end = [
        tag("button", {"type": "button", "id": name}, words)
        for name, words in (("back", "← Back"), ("next", "Next →"), ("end", "End"))
    ]
    told = (
        tag("h2", {"id": "step-title", "tabindex": "-1"}, "Step by step"),
        tag("p", {"id": "step-words"}, ""),
        tag("div", {"id": "step-facts"}, ""),
    )
    about = tag("p", {"id": "step-place", "class": "dim"}, "")
    panel = tag(
        "aside",
        {"id": "panel", "hidden": "", "aria-label": "Step by step", **({"data-begins": ""} if begins else {})},
        tag("div", {"class": "told"}, about, *told),
        tag("p", {"class": "buttons"}, back, on, end),
    )
    named = tag("p", {"id": "named", "hidden": "", "aria-hidden": "true"}, "")
    return tag("div", {}, panel, named, tag("p", {"id": "said", "role": "status", "class": "unseen"}, ""))


HINT = (
    "Point at a piece of a prompt, or focus a prompt and press ← and →: the page names the piece and highlights its "
    "origin in every column. Choose a field's name above to highlight everything about that field."
)


def focusable(name: str) -> dict[str, str]:
    """Return the attributes of a text that can be scrolled with the keyboard."""
    return {"tabindex": "0", "role": "group", "aria-label": short(name)}


def short(text: str) -> str:
    """Cut a name or sentence to at most LONGEST_NAME characters."""
    return cut(text, LONGEST_NAME, "… ({} more characters)")
