"""One run sent before, or two of them compared: how they ended, the values that differ, and the replies by word."""

from __future__ import annotations

import difflib
import json

from sessions.file.json_values import JSON
from workbench.output.display import one_line
from workbench.output.word_diff import lines_of
from workbench.tui.runs.run_history import PastRun
from workbench.tui.widgets.text.text_view import EMPTY, Block, Piece, block

SIGNS = {"done": ("✓", "ok"), "failed": ("✗", "error"), "cancelled": ("■", "warning")}
LONGEST_VALUE = 300
MOST_LINES = 4_000


def head_of(run: PastRun) -> tuple[Piece, ...]:
    """When, which column and model, how it ended and what is thought of it."""
    sign, style = SIGNS.get(run.phase, ("?", "note"))
    rated = {"good": " ★ good", "bad": " ✗ bad"}.get(run.rating, "")
    return (
        Piece(f"{sign} ", style),
        Piece(run.time, "title"),
        Piece(f"  {one_line(run.column, 30)}", "text"),
        Piece(f"  {one_line(run.model, 40)}", "accent"),
        Piece(f"  {run.seconds:.1f} s", "note"),
        Piece(rated, "ok" if run.rating == "good" else "error"),
    )


def one_run(run: PastRun) -> list[Block]:
    """Everything that was kept of a run."""
    blocks = [Block(head_of(run))]
    if run.note:
        blocks.append(block(f"“{run.note}”", "note", indent=2))
    if run.error:
        blocks.append(block(run.error, "error", indent=2))
    for name, value in run.values.items():
        blocks.append(Block((Piece(_short(value), "data"),), 2, "", Piece(f"{one_line(name, 20)}  ", "heading")))
    blocks += [EMPTY, block(run.text or "(no reply)", "text")]
    return blocks


def two_runs(before: PastRun, after: PastRun) -> list[Block]:
    """What differs from one run to the other."""
    blocks = [Block((Piece("− ", "error"), *head_of(before))), Block((Piece("+ ", "ok"), *head_of(after))), EMPTY]
    names = dict.fromkeys([*before.values, *after.values])
    differing = [name for name in names if _differ(before, after, name)]
    if names and not differing:
        blocks.append(Block((Piece("✓ ", "ok"), Piece("the same values"))))
    for name in differing:
        blocks.append(block(one_line(name, 40), "heading"))
        blocks += [
            Block(
                (Piece(_short(run.values[name]) if name in run.values else "(none)", style),), 2, "", Piece(sign, style)
            )
            for run, sign, style in ((before, "- ", "error"), (after, "+ ", "data"))
        ]
    if before.text == after.text:
        return [*blocks, EMPTY, Block((Piece("✓ ", "ok"), Piece("the same reply, character by character")))]
    unified = list(difflib.unified_diff(before.text.split("\n"), after.text.split("\n"), lineterm="", n=2))[2:]
    blocks += [EMPTY, block("reply", "heading")]
    for sign, stretches in lines_of(unified[:MOST_LINES]):
        style, changed = {"+": ("data", "added"), "-": ("error", "removed")}.get(sign, ("note", "note"))
        quiet = style if not any(one.changed for one in stretches) else "text"
        pieces = [Piece(one.text, changed if one.changed else quiet) for one in stretches]
        blocks.append(Block(tuple(pieces), 2, "", Piece(f"{sign} ", style)))
    if len(unified) > MOST_LINES:
        blocks.append(block(f"… {len(unified) - MOST_LINES:,} more lines", "note", indent=2))
    return blocks


def _differ(before: PastRun, after: PastRun, name: str) -> bool:
    if (name in before.values) != (name in after.values):
        return True
    # 1, 1.0 and true are other values
    return json.dumps(before.values[name]) != json.dumps(after.values[name])


def _short(value: JSON) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + " …"
