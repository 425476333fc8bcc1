"""Describe the verdict on a column's reply in a line below its prompt, and those of all columns in a strip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from textual import events
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from adapters.formats import catalog
from adapters.late_dataclasses import dataclass
from adapters.replies.reading import Reading
from adapters.running.events import ToolInvoked
from adapters.running.runs import why_it_ended
from adapters.signatures.agents import takes_steps
from sessions.errors import counted
from workbench.output import measures
from workbench.output.display import cell_width, one_line
from workbench.state.document import RenderedColumn
from workbench.tui.keys import USUAL, KeyWords, keys_of, pane_keys
from workbench.tui.runs.runs import ColumnRun
from workbench.tui.widgets.text.plain import QUIET, lines

GAP = "   "
SHORTEST_WORDS = 12
"""Cells below which a verdict's words are left out in favour of its sign."""
LONGEST_NAME = 24
LONGEST_WORDS = 200


class Verdict(NamedTuple):
    """The outcome of a column's reply: sign, tone (`success`, `error`, …) and words that may be cut.

    `matters` marks verdicts with words that users need; the words of others are dropped first. `brief` replaces words
    that would be cut.
    """

    id: str
    name: str
    sign: str
    tone: str
    words: str
    matters: bool = False
    brief: str = ""


class VerdictStrip(Widget, can_focus=True):
    """A line of verdicts; `Chosen` names the column to go to."""

    BINDING_GROUP_TITLE = "Verdicts"
    BINDINGS = pane_keys(
        "Verdicts",
        ("right,down", "step(1)", "Next", "strip.next", "Go to the next column"),
        ("left,up", "step(-1)", "Previous", "strip.before", "Go to the previous column"),
        ("enter", "choose", "Go there", "strip.choose", "Go to the reply of this column"),
    )
    DEFAULT_CSS = """
    VerdictStrip {
        height: 1;
        padding: 0 1;
        background: $surface;
        color: $foreground;
        &:focus { background: $accent 15%; }
    }
    """

    @dataclass
    class Chosen(Message):
        """The user chose this column; with `to_reply`, its reply gets the focus."""

        column_id: str
        to_reply: bool

    _verdicts: tuple[Verdict, ...] = ()
    _current = ""

    def show(self, verdicts: Sequence[Verdict], current: str) -> None:
        """Show these verdicts; `current` is the visible column."""
        lined = [(one, one_line(one.words, LONGEST_WORDS), one_line(one.brief, LONGEST_WORDS)) for one in verdicts]
        shown = tuple([one._replace(words=words, brief=brief) for one, words, brief in lined])
        if (shown, current) != (self._verdicts, self._current):
            self._verdicts, self._current = shown, current
            self.refresh()

    def render(self) -> Content:
        key = keys_of(self.app)("column {app.add_column|alt+c}")
        room = self.size.width - len(" + ")
        # the cells of names, signs and gaps
        bare = sum(cell_width(one_line(one.name, LONGEST_NAME)) + 3 + len(GAP) for one in self._verdicts)
        if bare + sum(cell_width(one.words) for one in self._verdicts) + len(key) <= room:
            room -= len(key)
        else:
            key = ""  # the verdicts need the room
        add = lines((" + ", "$text-accent bold"), (key, QUIET))
        add = add.stylize(Style.from_meta({"action": "add_column"}))
        parts: list[Content | str] = []
        for one, words in zip(self._verdicts, self._words(room - bare), strict=True):
            name_style = "$text-accent bold underline" if one.id == self._current else "bold"
            tone = f"$text-{one.tone}" if one.tone else QUIET
            said = f" {one.sign} {words}" if words else f" {one.sign}"
            drawn = lines((one_line(one.name, LONGEST_NAME), name_style), (said, tone))
            parts += [drawn.stylize(Style.from_meta({"column": one.id})), GAP]
        last = max([2 * at for at, one in enumerate(self._verdicts, 1) if one.id == self._current], default=0)
        first = 0  # the current column is never out of sight
        while first < last - 2 and Content.assemble("… ", *parts[first:last]).cell_length > room:
            first += 2
        line = Content.assemble("… " if first else "", *parts[first:])
        return Content.assemble(line.truncate(max(0, room), ellipsis=True), add)

    def _words(self, room: int) -> list[str]:
        """Return the words of each verdict, cut to fit together; those that matter are cut last."""
        words = [one.words for one in self._verdicts]

        def excess() -> int:
            return sum(map(cell_width, words)) - room

        for matters in (False, True):
            those = [place for place, one in enumerate(self._verdicts) if one.matters == matters and words[place]]
            if matters:
                lengths = [cell_width(words[place]) for place in those]
                left = sum(lengths) - excess()
                # the longest words get equally many cells; 0 if even a single cell each is too much
                fitting = (
                    most
                    for most in range(max(lengths, default=0), 0, -1)
                    if sum(min(one, most) for one in lengths) <= left
                )
                even = next(fitting, 0)
                for place in those:
                    most = max(SHORTEST_WORDS, even)
                    is_cut = cell_width(words[place]) > most
                    words[place] = _cut((is_cut and self._verdicts[place].brief) or words[place], most)
            # if even short words do not fit, drop whole words, longest first
            while those and excess() > 0:
                is_alike = len(those) > 1 and len({words[place] for place in those}) == 1
                longest = max(those, key=lambda place: cell_width(words[place]))
                # equal words are dropped together: shown for some columns only, they would mislead
                for place in those if is_alike and not matters else [longest]:
                    words[place] = ""
                those = [place for place in those if words[place]]
        return words

    def on_click(self, event: events.Click) -> None:
        column, action = event.style.meta.get("column"), event.style.meta.get("action")
        if isinstance(column, str):
            self.post_message(self.Chosen(column, to_reply=False))
        elif isinstance(action, str):
            self.call_later(self.app.run_action, action)

    def action_step(self, by: int) -> None:
        ids = [one.id for one in self._verdicts]
        if ids:
            place = ids.index(self._current) if self._current in ids else 0
            self.post_message(self.Chosen(ids[(place + by) % len(ids)], to_reply=False))

    def action_choose(self) -> None:
        if self._current:
            self.post_message(self.Chosen(self._current, to_reply=True))


def _cut(words: str, width: int) -> str:
    """Cut words to `width` cells, without leaving a single letter or part of a number at the end."""
    cut = one_line(words, width)
    if cut == words:
        return words
    kept = cut[:-1].rstrip(" ·")
    while kept[-2:-1] == " ":
        kept = kept[:-1].rstrip(" ·")
    return f"{kept}…"


LONGEST = 80
SHORT_FLAGS = {"xml-ampersand": "& not escaped"}
"""Short words for a parse error, by the flag that explains it."""


ASKED = "waiting"
BEING_READ = "parsing, this takes a moment"


def short_form(name: str, rendered: RenderedColumn, run: ColumnRun | None, is_old: bool) -> Verdict:
    """Return the brief verdict on a column's reply; `is_old` if it answers an earlier prompt."""
    id = rendered.column.id
    if run is not None and run.phase == "running":
        return Verdict(id, name, "◌", "accent", run.progress.doing or ("receiving" if run.text else "sent"))
    if run is not None and run.phase == "failed" and run.reply is None:
        from adapters.lm.provider_errors import short_form as in_short_words

        words = in_short_words(run.payload) if run.payload is not None else ""
        return Verdict(id, name, "✗", "error", words or one_line(run.error, LONGEST), matters=True)
    if rendered.error:
        why = rendered.error.removeprefix("the ")  # `signature: line 1, …` appears for every column, in little room
        return Verdict(id, name, "✗", "error", one_line(why, LONGEST), matters=True, brief=why.partition(", column")[0])
    old = "old " if is_old else ""
    if run is not None and run.phase == "cancelled":
        return Verdict(id, name, "■", "warning", "cancelled", matters=True)
    if rendered.reply is not None and rendered.reply.raw:
        return Verdict(id, name, "≡", "accent", f"{old}raw")
    reading = rendered.reading
    if rendered.late is not None and (reading is None or rendered.request is None):
        return Verdict(id, name, "◌", "accent", ASKED)
    if reading is None:
        if not rendered.text:
            return Verdict(id, name, "·", "", "no reply yet")
        if rendered.slow is not None:
            return Verdict(id, name, "◌", "accent", BEING_READ)
        return Verdict(id, name, "✗", "error", one_line(rendered.reading_error or "not parsed", LONGEST), matters=True)
    if (error := reading.error) is None:
        found = sum(one.state in ("read", "native") for one in reading.fields.values())
        is_repaired = any(step.rule == "json_repair" for one in reading.fields.values() for step in one.steps)
        words = f"{found}/{len(reading.fields)}{' repaired' if is_repaired else ''}"
        if failed := failed_tools(run):
            words = f"{words}, {one_line(failed, LONGEST)}"
            return Verdict(id, name, "✓", "warning", old + words, matters=True, brief="tool failed")
        return Verdict(id, name, "✓", "success", old + words)
    why = next((SHORT_FLAGS[one.name] for one in reading.flags if one.name in SHORT_FLAGS), error.message)
    why = one_line(why.strip(), LONGEST)
    place = f"line {reading.line_and_column(error.start)[0]}: " if error.start is not None else ""
    return Verdict(id, name, "✗", "error", old + place + why, matters=True, brief=old + why)


REPLY = ("reply ", "$foreground bold")
CODE_REPLY = frozenset(("generated_code", "finished"))
TOOL_REPLY = frozenset(("next_thought", "next_tool_name", "next_tool_args"))
"""The outputs of agents whose reply is a step."""


def verdict(rendered: RenderedColumn, run: ColumnRun | None, now: float = 0.0, keys: KeyWords = USUAL) -> Content:
    """Describe a column's reply in a line: sign, verdict, time and cost."""
    if run is not None and run.phase == "running":
        passed = now - run.started - run.progress.loading_s
        seconds = f" {passed:.{1 if passed < 10 else 0}f} s" if now else ""
        what = run.progress.doing or ("receiving" if run.text else "sent")
        which = f" {run.progress.number}/{run.times}" if run.times > 1 else ""
        doing = (f"◌ {what}{which}{seconds}", "$text-accent")
        return lines(REPLY, doing, (keys("  {app.cancel|esc} cancel"), QUIET))
    took = _took(run) if run is not None else ""
    early = ""
    if run is not None and run.phase == "cancelled":
        early = f"cancelled after {_duration(run.seconds)}"
    elif rendered.reply is not None:
        early = why_it_ended(rendered.reply.finish_reason, rendered.reply.refusal or "")
    ended = ((f"■ {early}", "$text-warning"), ("  ", "")) if early else ()
    if run is not None and says_why(rendered, run):
        fixes = keys(" · {app.fixes|alt+x} fixes") if rejected_in(run.payload) else ""
        details = fixes + took.replace(" ", " · ", 1) if fixes else took
        if run.payload is not None:
            from adapters.lm.provider_errors import short_form

            if words := short_form(run.payload):  # followed by phase and time; more appears below
                return _line("✗", "error", words, f" · {run.error.partition(':')[0]}{details}")
        return _line("✗", "error", run.error, details)
    if rendered.reply is not None and rendered.reply.raw:
        return lines(REPLY, *ended, ("≡ raw, not parsed", "$text-accent"), (took, QUIET))
    if rendered.reading is not None:
        is_edited = rendered.reply is not None and rendered.reply.source == "edited"
        return _parse_verdict(rendered.reading, took or " edited" * is_edited, failed_tools(run), ended, keys)
    if rendered.slow is not None:
        return lines(REPLY, *ended, (f"◌ {BEING_READ}", "$text-accent"), (took, QUIET))
    if rendered.text:
        return _line("✗", "error", rendered.reading_error or "not parsed", took, ended)
    can_be_sent = rendered.request is not None or rendered.late is not None
    send = " · {app.send_all|F5} send" if can_be_sent else ""  # not before there is a signature
    nothing = took.strip() or ("" if ended else keys(f"none yet{send}"))
    return lines(REPLY, *ended, (nothing, QUIET))


def _took(run: ColumnRun) -> str:
    """Describe time, cost and calls of an ended run; for repeats, their counts instead."""
    if run.repeats is not None:
        repeats = run.repeats
        rate = "" if repeats.parse_failure_rate is None else f" ({repeats.parse_failure_rate:.0%})"
        return f" {repeats.runs} runs, {counted(repeats.parse_failures, 'parse error')}{rate}"
    if run.phase not in ("done", "failed"):
        return ""
    calls = f" · {run.attempts} calls" if run.attempts > 1 else ""
    attempts = run.run.attempts if run.run is not None else ()
    is_sent = not isinstance(run.payload, Mapping) or has_come(run.payload)
    total = measures.total_cost(attempts) if is_sent else 0
    cost = f" · {measures.cost(total)}" if total != 0 else ""
    again = ""  # what a retry or the fallback adapter achieved
    if attempts and attempts[-1].purpose == "again":
        again = f" · asked again: {'parsed' if run.phase == 'done' else 'failed too'}"
    elif attempts and attempts[-1].purpose == "fallback":
        outcome = "parsed it" if run.phase == "done" else "failed too"
        again = f" · {catalog.title(attempts[-1].adapter)} {outcome}"
    return f" {_duration(run.seconds)}{cost}{calls}{again}"


def failed_tools(run: ColumnRun | None) -> str:
    """Say which tools failed: the reply then rests on their errors."""
    seen = run.run.events if run is not None and run.run is not None else ()
    calls = [one for one in seen if isinstance(one, ToolInvoked) and not one.result.success]
    names = list(dict.fromkeys(one.name for one in calls))
    return f"tool {', '.join(names)} failed" if names else ""


def _parse_verdict(
    reading: Reading, took: str, failed: str, ended: tuple[tuple[str, str], ...], keys: KeyWords
) -> Content:
    """Describe a parse result; for an error, with its place and the key for fixes before what a narrow column cuts."""
    flags = f" · {len(reading.flags)} ⚑" if reading.flags else ""
    if (error := reading.error) is None:
        uncertain = f"uncertain · {', '.join(reading.uncertain)}" if reading.uncertain else ""
        if failed:
            uncertain = f"{failed} ·{f' {uncertain} ·' if uncertain else ''}"  # the time of the run follows
        return _line("✓", "warning" if uncertain else "success", uncertain, took + flags, ended)
    found = [f"line {reading.line_and_column(error.start)[0]}"] if error.start is not None else []
    found += [error.field] if error.field else []
    rest = (keys("{app.fixes|alt+x} fixes"), *found[1:], failed, took.strip(), f"{len(reading.flags)} ⚑" * bool(flags))
    return _line("✗", "error", "".join(found[:1]), " · " * bool(found) + " · ".join(filter(None, rest)), ended)


def adds_step(rendered: RenderedColumn, keys: KeyWords) -> str:
    """Name the key that adds a reply to the trajectory, if it is a step of an agent; else ""."""
    reading, request = rendered.reading, rendered.request
    if reading is None or request is None or not takes_steps(request.signature):
        return ""
    is_step = any(step <= reading.values.keys() for step in (CODE_REPLY, TOOL_REPLY))
    return keys(" · {app.continue_run|alt+n} adds the step") if is_step else ""


def says_why(rendered: RenderedColumn, run: ColumnRun) -> bool:
    """Return whether the run's error explains the failure, rather than the parse result."""
    is_unread = rendered.reading is None or not run.error.startswith("response")
    return run.phase == "failed" and (is_unread or is_of_before(rendered, run))


def has_come(payload: Any) -> bool:
    """Return whether a failed call got an answer from the provider."""
    if not isinstance(payload, Mapping):
        return payload is not None
    kind = payload.get("kind")
    is_ours = kind in ("setup", "child") or (kind == "key" and not payload.get("key_sent"))
    return bool(payload.get("body")) or not is_ours


def rejected_in(payload: Any) -> str:
    """Return the capability whose part of the request the provider rejected; "" for any other failure."""
    return str(payload.get("rejected", "")) if isinstance(payload, Mapping) else ""


def is_of_before(rendered: RenderedColumn, run: ColumnRun | None) -> bool:
    """Return whether the shown reply is older than the failed run."""
    return run is not None and run.phase == "failed" and run.reply is None and bool(rendered.text)


def _line(sign: str, tone: str, said: str, details: str, before: tuple[tuple[str, str], ...] = ()) -> Content:
    return lines(
        REPLY,
        *before,
        (f"{sign} " if said or details.strip() else sign, f"$text-{tone} bold"),
        (said, f"$text-{tone}"),
        (details if said else details.lstrip(), QUIET),
    )


def _duration(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 10 else f"{seconds:.1f} s"
