"""Write a session as a page: signature, prompts side by side, replies as they are parsed, the lesson.

The page contains everything that can be chosen on it. The script (`session_page.js`) only shows, hides, highlights and
moves the focus; it treats all data as text and creates no markup.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import resources
from itertools import product

from adapters.display import as_html
from adapters.display.as_html import Element, tag, written
from adapters.display.as_text import cut_bytes
from adapters.display.blocks import Note, Passage, Piece
from adapters.late_dataclasses import replace
from adapters.lm.offline import NAMES
from adapters.prompts.text import Text, piece_of
from adapters.replies.reading import Reading
from adapters.requests.request import Request
from adapters.signatures.type_names import name_of
from sessions.exports import exported
from sessions.exports.exported import Exported, Source, View, switched_off
from sessions.running.recording import as_json
from workbench.exporting.prepared import (
    HINT,
    KEPT,
    Prepared,
    Shown,
    focusable,
    panel,
    radios,
    short,
    step_button,
)
from workbench.lessons import lesson, reply_lesson
from workbench.pages.page import folded, page, table

PROMPT_TEXT = 3_000_000
"""The total number of characters of all prompts, shared equally; each gets at least LEAST_PROMPT."""
LEAST_PROMPT = 20_000
LONGEST_TEXT = 20_000
"""The most characters of any other text: a signature, an input, a reply."""
LONGEST_REPEATED = 40

Choice = Mapping[str, tuple[int, ...]]
"""The positions at which something is shown, by switch (`case`, `wording`, `reply`, `column`)."""


def lesson_of(source: Source) -> Exported:
    """Write the same page, opened on the first step of its lesson. Raises the errors of `page_of`."""
    return page_of(source, begins=True)


def page_of(source: Source, begins: bool = False) -> Exported:
    """Write the page of every case in every column. A column without a prompt shows why.

    Raises SignatureError for an invalid signature, and ExportError for an unknown adapter.
    """
    made = _SessionPage(Prepared(source), begins)
    body = list(made.body())
    left = (*made.prepared.left_out, *switched_off(made.prepared.session, made.prepared.cases))
    if left:
        names = tag("ul", {}, *[tag("li", {}, short(one)) for one in left])
        body.append(tag("section", {}, tag("h2", {}, "Left out"), names))
    # The colours of all kinds of pieces, as in notebooks, and the page's own rules.
    dark = f"@media screen and (prefers-color-scheme: dark) {{{as_html.dark_rules(['main'])}}}"
    style = as_html.light_rules("main") + dark + _resource("session_page.css")
    return Exported(page(made.prepared.name, body, style=style, script=_resource("session_page.js")), left)


def _resource(name: str) -> str:
    return resources.files("workbench.exporting").joinpath(name).read_text("utf-8")


class _SessionPage:
    """Writes a prepared session. Texts highlighted together share a number, in order of first appearance."""

    def __init__(self, prepared: Prepared, begins: bool) -> None:
        self._begins = begins
        self.prepared = prepared
        self._origins: dict[tuple[str, str], str] = {}
        self._steps: dict[tuple[str, str], str] = {}
        self._texts: dict[str, str] = {}
        wordings, cases, replies = range(len(prepared.wordings)), range(len(prepared.cases)), prepared.replies
        self._all: Mapping[str, Sequence[int]] = {
            "wording": wordings,
            "case": cases,
            "reply": range(len(replies)),
            "column": range(len(prepared.columns)),
        }
        self._states = tuple(product(wordings, cases))
        self._prompt_share = max(LEAST_PROMPT, PROMPT_TEXT // max(1, len(self._states) * len(prepared.columns)))

    def body(self) -> Iterator[Element]:
        prepared = self.prepared
        if prepared.session.notes:
            notes = Passage("", (Piece(prepared.session.notes, "value"),))
            yield folded("Notes", as_html.passage(notes, LONGEST_TEXT, focusable("notes")), is_open=True)
        yield self._switches()
        yield tag("noscript", {}, "JavaScript is off: only the first case is shown, without the lesson.")
        known = tag("div", {"class": "halves"}, tag("div", {}, *self._signatures()), tag("div", {}, *self._inputs()))
        yield tag("section", {"id": "signature"}, tag("h2", {}, "Signature and inputs"), known)
        columns = range(len(prepared.columns))
        prompts = [tag("div", {"class": "column"}, *self._prompt(column)) for column in columns]
        hint = tag("p", {"class": "dim screen"}, HINT)
        beside = tag("div", {"class": "beside"}, *prompts)
        yield tag("section", {"id": "prompts"}, tag("h2", {}, "Prompts"), hint, beside)
        yield tag("section", {"id": "replies"}, tag("h2", {}, "Replies and parse results"), *self._replies())
        yield tag("section", {"id": "matrix"}, tag("h2", {}, "Each reply parsed by every adapter"), *self._matrices())
        yield tag("section", {"id": "lesson"}, tag("h2", {}, "Step by step"), *self._lesson())
        yield panel(self._begins)
        yield tag("ul", {"id": "texts", "hidden": ""}, *[tag("li", {}, one) for one in self._texts])
        said = [tag("li", {"data-field": field}, name) for name, field in self._origins]
        yield tag("ul", {"id": "origins", "hidden": ""}, *said)

    # -- switches

    def _when(self, element: Element, choice: Choice) -> Element:
        """Show the element only at these positions of the switches."""
        told = {name: places for name, places in choice.items() if len(places) < len(self._all[name])}
        marks = {f"data-{name}": " ".join(map(str, places)) for name, places in told.items()}
        away = {"hidden": ""} if any(0 not in places for places in told.values()) else {}
        return replace(element, attributes={**element.attributes, **marks, **away})

    def _by_state(self, make: Callable[[int, int], Iterable[Element]], **more: tuple[int, ...]) -> Iterator[Element]:
        """Yield what `make` makes for each wording and case, place by place; equal elements only once."""
        places: dict[int, dict[str, tuple[Element, dict[int, list[int]]]]] = {}
        for wording, case in self._states:
            for place, one in enumerate(make(wording, case)):
                alike = places.setdefault(place, {})
                alike.setdefault(written(one), (one, {}))[1].setdefault(wording, []).append(case)
        for _, alike in sorted(places.items()):
            for one, cases_of in alike.values():
                by_cases: dict[tuple[int, ...], list[int]] = {}
                for wording, cases in cases_of.items():
                    by_cases.setdefault(tuple(cases), []).append(wording)
                for shared, wordings in by_cases.items():
                    yield self._when(one, {"wording": tuple(wordings), "case": shared, **more})

    def _switches(self) -> Element:
        prepared = self.prepared
        parts: list[Element] = []
        if len(prepared.cases) > 1:
            parts.append(radios("case", "Case", [one.name for one in prepared.cases]))
        if len(prepared.wordings) > 1:
            parts.append(radios("wording", "Signature", [one.name for one in prepared.wordings]))
        options = [
            tag("option", {"value": str(place), **({"selected": ""} if place == 0 else {})}, name)
            for place, name in enumerate(prepared.replies)
        ]
        who = tag("select", {"id": "reply", "name": "reply"}, *options)
        parts.append(tag("p", {}, tag("label", {"for": "reply"}, "Reply of "), who))
        begin = tag("button", {"type": "button", "id": "begin"}, "Step by step")
        big = tag("button", {"type": "button", "id": "big", "aria-pressed": "false"}, "Big type")
        parts.append(tag("p", {"class": "buttons"}, begin, big))
        shown = tag("p", {"id": "chosen", "class": "paper"}, "")
        return tag("div", {"id": "switches", "role": "group", "aria-label": "Choose what to show"}, *parts, shown)

    # -- the signature and the inputs

    def _signatures(self) -> Iterator[Element]:
        for wording, one in enumerate(self.prepared.wordings):
            read = one.session.signature.read()
            rows: list[list[Element | str]] = []
            for field in read.fields.values():
                button = tag("button", {"type": "button", "class": "field", "data-light": field.name}, field.name)
                rows.append([button, field.role, name_of(field.annotation), short(field.description or "")])
            if not any(field.description for field in read.fields.values()):
                rows = [row[:-1] for row in rows]
            text = Passage("", (Piece(one.session.signature.text, "value"),))
            told = Passage("Instructions", (Piece(read.instructions, "instructions"),))
            parts = (
                table(("field", "is", "type", "description")[: len(rows[0])] if rows else ("field",), rows),
                folded(
                    "Instructions", as_html.passage(told._replace(title=""), LONGEST_TEXT, focusable("instructions"))
                ),
                folded("Source", as_html.passage(text, LONGEST_TEXT, focusable("the signature"))),
            )
            yield self._when(tag("div", {}, *parts), {"wording": (wording,)})

    def _inputs(self) -> Iterator[Element]:
        for place, case in enumerate(self.prepared.cases):
            inputs = cut_bytes(as_json(case.inputs))
            rows: list[list[Element | str]] = []
            for name, value in inputs.items():
                text = value if isinstance(value, str) else exported.readable(value)
                shown = Passage("", (Piece(text, "value"),))
                rows.append([name, as_html.passage(shown, LONGEST_TEXT, focusable(name))])
            head = tag("h3", {}, f"Inputs of {short(case.name)}")
            found = table(("field", "value"), rows) if rows else tag("p", {"class": "dim"}, "No inputs yet.")
            yield self._when(tag("div", {}, head, found), {"case": (place,)})

    # -- prompts

    def _prompt(self, column: int) -> Iterator[Element]:
        one = self.prepared.columns[column]
        yield tag("h3", {}, f"{short(one.id)} → {short(self.prepared.session.model_of(one))}")
        yield from self._by_state(partial(self._prompt_in, column))

    def _prompt_in(self, column: int, wording: int, case: int) -> Iterator[Element]:
        request = self.prepared.request(wording, case, column)
        if isinstance(request, str):
            yield as_html.element(Note(f"✗ {request}", "bad"))
        else:
            yield from self._messages(self.prepared.view(wording, case, column), request)

    def _messages(self, view: View, request: Request) -> Iterator[Element]:
        room = self._prompt_share
        pieces = self._pieces(view, request)
        for place, message in enumerate(request.messages):
            if room <= 0:
                yield as_html.element(Note(f"… {len(request.messages) - place:,} more messages"))
                return
            mine = pieces.get(place, ())
            attributes = {**focusable(f"{view.column.id}, {message.title}"), "class": "pieces"}
            text = as_html.passage(Passage("", tuple(mine)), room, attributes)
            room -= sum(len(one.text) for one in mine)
            yield folded(message.title, text, is_open=not message.turn.startswith("demo"))
        for note in request.prompt.notes:
            yield as_html.element(Note(note))

    def _pieces(self, view: View, request: Request) -> dict[int, list[Piece]]:
        """Return the pieces of each message, each with its step of the lesson."""
        found: dict[int, list[Piece]] = {}
        for step in lesson.steps_of(view.adapter, request):
            number = self._steps.setdefault((step.title, step.explanation), str(len(self._steps)))
            for one in step.pieces:
                message = request.messages[one.message]
                pieces = found.setdefault(one.message, [])
                if isinstance(one.content, Text):
                    new = [piece_of(segment) for segment in one.content.segments]
                else:
                    new = [] if one.content is None else [one.content.piece]
                pieces += [self._keyed(piece, message.turn)._replace(step=number) for piece in new]
        for place, message in enumerate(request.messages):
            if message.calls:
                found.setdefault(place, []).extend(message.calls)
        return found

    def _keyed(self, piece: Piece, where: str) -> Piece:
        name = f"{piece.says} · {where}"
        return piece._replace(says="", key=self._origins.setdefault((name, piece.field), str(len(self._origins))))

    # -- replies

    def _replies(self) -> Iterator[Element]:
        who = self.prepared.replies
        for place, name in enumerate(who):
            about = "the sent, pasted or recorded reply" if name == KEPT else NAMES[name].removeprefix("none: ")
            yield self._when(tag("p", {"class": "dim"}, f"{name}: {about}"), {"reply": (place,)})
        columns = [tag("div", {"class": "column"}, *self._replies_of(column)) for column in self._all["column"]]
        yield tag("div", {"class": "beside"}, *columns)

    def _replies_of(self, column: int) -> Iterator[Element]:
        yield tag("h3", {}, short(self.prepared.columns[column].id))
        for reply in self._all["reply"]:
            yield from self._by_state(partial(self._reply_in, column, reply), reply=(reply,))

    def _reply_in(self, column: int, reply: int, wording: int, case: int) -> Iterator[Element]:
        shown = self.prepared.shown(wording, case, column, reply)
        if isinstance(shown, str):
            yield as_html.element(Note(shown))
        else:
            yield tag("div", {"class": "reply"}, *self._reply(shown, column))

    def _reply(self, shown: Shown, column: int) -> Iterator[Element]:
        name = self.prepared.columns[column].id
        if shown.is_old:
            yield as_html.element(Note("This reply answers another prompt or model than the one shown."))
        for block in shown.reading.shown().blocks:
            if isinstance(block, Passage):
                pieces = tuple([self._keyed(piece, "the reply") for piece in block.pieces])
                attributes = {**focusable(f"{name}, reply"), "class": "pieces"}
                yield as_html.passage(Passage("", pieces), LONGEST_TEXT, attributes)
            else:
                yield as_html.element(block)
        if not shown.reading.completion:
            yield as_html.element(Note("The reply is empty."))

    # -- each reply parsed by every adapter

    def _matrices(self) -> Iterator[Element]:
        prepared = self.prepared
        said = "Each adapter parses the replies above. The numbers count the outputs found."
        yield tag("p", {"class": "dim"}, said)
        parsers = reply_lesson.parsers_for([one.adapter for one in prepared.columns])
        for reply in self._all["reply"]:
            yield from self._by_state(partial(self._matrix, parsers, reply), reply=(reply,))

    def _matrix(self, parsers: Sequence[str], reply: int, wording: int, case: int) -> Iterator[Element]:
        rows = [self._matrix_row(wording, case, column, reply, parsers) for column in self._all["column"]]
        yield table(("reply of", *parsers), [one for one in rows if one])

    def _matrix_row(
        self, wording: int, case: int, column: int, reply: int, parsers: Sequence[str]
    ) -> list[Element | str]:
        shown, request = self.prepared.shown(wording, case, column, reply), self.prepared.request(wording, case, column)
        if isinstance(shown, str) or isinstance(request, str):
            return []
        one = self.prepared.columns[column]
        cells: list[Element | str] = [one.id]
        for parser in parsers:
            is_own = parser == one.adapter
            reading = shown.reading if is_own else reply_lesson.reading_by(parser, request, shown.answer.text)
            if reading is None or reply_lesson.is_waiting(reading):
                colour = "none"
            else:
                colour = "good" if reading.ok else "bad"
            cells.append(tag("td", {"class": colour}, reply_lesson.words_of(reading, is_own)))
        return cells

    # -- the lesson

    def _lesson(self) -> Iterator[Element]:
        prepared = self.prepared
        if len(prepared.columns) > 1:
            yield radios("column", "Column", [one.id for one in prepared.columns])
        for column in self._all["column"]:
            parts = (
                tag("h3", {}, f"The prompt of {short(prepared.columns[column].id)}"),
                tag("ol", {"class": "steps"}, *self._by_state(partial(self._prompt_steps, column))),
                tag("h3", {}, "Its reply"),
                *[
                    element
                    for reply in self._all["reply"]
                    for element in self._by_state(partial(self._reply_steps, column, reply), reply=(reply,))
                ],
            )
            yield self._when(tag("div", {}, *parts), {"column": (column,)})

    def _prompt_steps(self, column: int, wording: int, case: int) -> Iterator[Element]:
        request = self.prepared.request(wording, case, column)
        if isinstance(request, str):
            return
        for step in lesson.steps_of(self.prepared.view(wording, case, column).adapter, request):
            words = (step_button(step.title), self._once("p", step.explanation))
            yield tag("li", {"data-at": self._steps[step.title, step.explanation]}, *words)

    def _reply_steps(self, column: int, reply: int, wording: int, case: int) -> Iterator[Element]:
        shown = self.prepared.shown(wording, case, column, reply)
        if not isinstance(shown, str):
            steps = [self._reply_step(one, shown.reading) for one in reply_lesson.steps_of(shown.reading)]
            yield tag("ol", {"class": "steps"}, *steps)

    def _reply_step(self, step: reply_lesson.ReplyStep, reading: Reading) -> Element:
        spans = step.reading.spans  # they are in order and have no gaps
        starts, ends = [one.start for one in spans], [one.end for one in spans]
        touched: set[int] = set()
        for one in step.spans:
            touched.update(range(bisect_right(ends, one.start), bisect_left(starts, one.end)))
        lit = " ".join(map(str, sorted(touched)))
        of_second = {} if step.reading is reading else {"data-second": ""}
        facts = [
            part for label, text in step.facts for part in (tag("dt", {}, short(label)), self._once("dd", short(text)))
        ]
        told = (tag("dl", {}, *facts),) if facts else ()
        return tag(
            "li", {"data-spans": lit, **of_second}, step_button(step.title), self._once("p", step.explanation), *told
        )

    def _once(self, name: str, text: str) -> Element:
        """Write a long text only once on the page; the script inserts it wherever it is referenced."""
        if len(text) < LONGEST_REPEATED:
            return tag(name, {}, text)
        return tag(name, {"data-text": self._texts.setdefault(text, str(len(self._texts)))})
