"""The line between prompt and reply: whether the reply could be read, what a run is doing, and what it took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textual.content import Content

from adapters.formats import catalog
from adapters.running.runs import why_it_ended
from workbench.output import measures
from workbench.state.derived import RenderedColumn
from workbench.tui.keys.key_words import USUAL, KeyWords
from workbench.tui.panes.verdict_words import BEING_READ
from workbench.tui.runs.runs import ColumnRun
from workbench.tui.widgets.text.plain import lines

if TYPE_CHECKING:
    from adapters.replies.reading import Reading
    from sessions.running.repeats import Repeats

REPLY = ("reply ", "$foreground bold")


def verdict(rendered: RenderedColumn, run: ColumnRun | None, now: float = 0.0, keys: KeyWords = USUAL) -> Content:
    """One line about the reply of a column: a sign, what happened, and what it took."""
    if run is not None and run.phase == "running":
        return _under_way(run, now, keys)
    took = _took(run) if run is not None else ""
    ended = _ended(rendered, run)
    if run is not None and says_why(rendered, run):
        return _line("✗", "error", *_failure(run, took))
    if rendered.reply is not None and rendered.reply.raw:
        return lines(REPLY, *ended, ("≡ kept raw, not read", "$text-accent"), (took, "$foreground 60%"))
    if rendered.reading is not None:
        return _of_reading(rendered.reading, took, ended)
    if rendered.slow is not None:
        return lines(REPLY, *ended, (f"◌ {BEING_READ}", "$text-accent"), (took, "$foreground 60%"))
    if rendered.text:
        return _line("✗", "error", rendered.reading_error or "not read", took, ended)
    nothing = took.strip() or ("" if ended else keys("none yet · {app.send_all|F5} sends"))
    return lines(REPLY, *ended, (nothing, "$foreground 60%"))


def _under_way(run: ColumnRun, now: float, keys: KeyWords) -> Content:
    """What a run is doing, and for how long."""
    seconds = f" {now - run.started - run.progress.loading_s:.1f} s" if now else ""
    what = run.progress.doing or ("receiving" if run.text else "sent")
    which = f" {run.progress.number}/{run.times}" if run.times > 1 else ""
    return lines(
        REPLY,
        (f"◌ {what}{which}{seconds}", "$text-accent"),
        (keys("  {app.cancel|esc} cancels"), "$foreground 60%"),
    )


def _took(run: ColumnRun) -> str:
    """Time, costs and calls of a run that has ended; of several in a row how many there were."""
    if run.repeats is not None:
        return f" {_repeated(run.repeats)}"
    if run.phase not in ("done", "failed"):
        return ""
    calls = f" · {run.attempts} calls" if run.attempts > 1 else ""
    return f" {_duration(run.seconds)}{_cost(run)}{calls}{_fallback(run)}"


def _of_reading(reading: Reading, took: str, ended: tuple[tuple[str, str], ...]) -> Content:
    """Whether the reply could be read, else where and at which field it could not."""
    flags = f" · {len(reading.flags)} ⚑" if reading.flags else ""
    if reading.ok and reading.uncertain:
        return _line("✓", "warning", f"uncertain · {', '.join(reading.uncertain)}", took + flags, ended)
    if reading.ok:
        return _line("✓", "success", "", took + flags, ended)
    place = field = ""
    if reading.error is not None and reading.error.start is not None:
        place = f" line {reading.line_and_column(reading.error.start)[0]}"
    if reading.error is not None and reading.error.field:
        field = f" · {reading.error.field}"
    return _line("✗", "error", (place + field).strip(), took + flags, ended)


def _ended(rendered: RenderedColumn, run: ColumnRun | None) -> tuple[tuple[str, str], ...]:
    """What stands before the verdict on a reply that did not come to its own end: why it ended."""
    said = ""
    if run is not None and run.phase == "cancelled":
        said = f"cancelled after {_duration(run.seconds)}"
    elif rendered.reply is not None:
        said = why_it_ended(rendered.reply.finish_reason, rendered.reply.refusal or "")
    return ((f"■ {said}", "$text-warning"), ("  ", "")) if said else ()


def says_why(rendered: RenderedColumn, run: ColumnRun) -> bool:
    """Whether the run, and not the reading of its reply, tells what went wrong."""
    is_unread = rendered.reading is None or not run.error.startswith("response")
    return run.phase == "failed" and (is_unread or is_of_before(rendered, run))


def has_come(payload: Any) -> bool:
    """Whether anything of a failed call came from the provider, or nothing was sent to it at all."""
    if not isinstance(payload, Mapping):
        return payload is not None
    kind = payload.get("kind")
    is_ours = kind in ("setup", "child") or (kind == "key" and not payload.get("key_sent"))
    return bool(payload.get("body")) or not is_ours


def is_of_before(rendered: RenderedColumn, run: ColumnRun | None) -> bool:
    """Whether the reply on screen was there before a run that brought none: its values are none of the run's."""
    return run is not None and run.phase == "failed" and run.reply is None and bool(rendered.text)


def _failure(run: ColumnRun, took: str) -> tuple[str, str]:
    """What went wrong in few words, and after them the phase with what it took; the whole of it stands below."""
    if run.payload is None:
        return run.error, took
    from adapters.lm.provider_errors import in_short

    words = in_short(run.payload)
    return (words, f" · {run.error.partition(':')[0]}{took}") if words else (run.error, took)


def _cost(run: ColumnRun) -> str:
    """What the calls cost together, as far as that is known of each; nothing where offline models answered."""
    if isinstance(run.payload, Mapping) and not has_come(run.payload):
        return ""  # nothing was sent
    calls = [one for one in run.run.attempts if not one.model.startswith("offline/")] if run.run is not None else []
    total = measures.total_cost(calls)
    return f" · {measures.cost(total)}" if calls else ""


def _fallback(run: ColumnRun) -> str:
    """Which adapter answered in the place of the column's own, whose reply stands below."""
    last = run.run.attempts[-1] if run.run is not None and run.run.attempts else None
    if last is None or last.purpose != "fallback":
        return ""
    return f" · {catalog.title(last.adapter)} {'read it' if run.phase == 'done' else 'failed too'}"


def _repeated(counted: Repeats) -> str:
    """Of several runs in a row, how many there were and how many replies could not be read."""
    rate = "" if counted.parse_failure_rate is None else f" ({counted.parse_failure_rate:.0%})"
    return f"{counted.runs} runs, {counted.parse_failures} not read{rate}"


def _line(sign: str, tone: str, said: str, details: str, before: tuple[tuple[str, str], ...] = ()) -> Content:
    return lines(
        REPLY,
        *before,
        (f"{sign} " if said or details.strip() else sign, f"$text-{tone} bold"),
        (said, f"$text-{tone}"),
        (details if said else details.lstrip(), "$foreground 60%"),
    )


def _duration(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 10 else f"{seconds:.1f} s"
