"""What became of a column's reply in a few words, for the line that names every column."""

from __future__ import annotations

from adapters.replies.reading import Reading
from workbench.output.display import one_line
from workbench.state.derived import RenderedColumn
from workbench.tui.runs.runs import ColumnRun
from workbench.tui.widgets.verdict_strip import Verdict

LONGEST = 80
SHORT_FLAGS = {"xml-ampersand": "& not escaped"}
"""Reasons of a refusal that a parser tells of in words of its own, by the flag that explains them."""


ASKED = "asked for"
BEING_READ = "being read, which takes a moment"


def in_short(name: str, rendered: RenderedColumn, run: ColumnRun | None, is_old: bool) -> Verdict:
    """The verdict on the reply of a column of this name; `is_old`: it answers an earlier prompt."""
    id = rendered.column.id
    if run is not None and run.phase == "running":
        return Verdict(id, name, "◌", "accent", run.progress.doing or ("receiving" if run.text else "sent"))
    if run is not None and run.phase == "failed" and run.reply is None:
        return Verdict(id, name, "✗", "error", _failure(run), matters=True)
    if rendered.error:
        why = rendered.error.removeprefix("the ")  # `signature: line 1, …`: said of every column, in little room
        return Verdict(id, name, "✗", "error", one_line(why, LONGEST), matters=True)
    old = "old " if is_old else ""
    if rendered.reply is not None and rendered.reply.raw:
        return Verdict(id, name, "≡", "accent", f"{old}kept raw")
    reading = rendered.reading
    if rendered.late is not None and (reading is None or rendered.request is None):
        return Verdict(id, name, "◌", "accent", ASKED)
    if reading is None:
        if not rendered.text:
            return Verdict(id, name, "·", "", "no reply yet")
        if rendered.slow is not None:
            return Verdict(id, name, "◌", "accent", BEING_READ)
        return Verdict(id, name, "✗", "error", one_line(rendered.reading_error or "not read", LONGEST), matters=True)
    if reading.ok:
        return Verdict(id, name, "✓", "success", old + read_in_short(reading))
    place, why = refused_in_short(reading)
    return Verdict(id, name, "✗", "error", old + place + why, matters=True, brief=old + why)


def read_in_short(reading: Reading) -> str:
    """`4/4`, or `4/4 repaired` where what the model wrote had to be mended before it could be read."""
    found = sum(one.state in ("read", "native") for one in reading.fields.values())
    steps = (step.rule for one in reading.fields.values() for step in one.steps)
    return f"{found}/{len(reading.fields)}{' repaired' if 'json_repair' in steps else ''}"


def refused_in_short(reading: Reading) -> tuple[str, str]:
    """`line 12: ` and `& not escaped`: the place, where the parser knows it, and the reason."""
    error = reading.error
    if error is None:
        return "", ""
    why = next((SHORT_FLAGS[one.name] for one in reading.flags if one.name in SHORT_FLAGS), error.message)
    place = ""
    if error.start is not None:
        place = f"line {reading.line_and_column(error.start)[0]}: "
    return place, one_line(why.strip(), LONGEST)


def _failure(run: ColumnRun) -> str:
    from adapters.lm.provider_errors import in_short as in_short_words

    words = in_short_words(run.payload) if run.payload is not None else ""
    return words or one_line(run.error, LONGEST)
