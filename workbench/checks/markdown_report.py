"""A check by its causes as Markdown for a pull request: bounded, and whatever a session says is plain text in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sessions.causes.cause import Cause, counted
from sessions.fixtures import reports
from workbench.output.markdown import bounded, code, fenced

MOST_LINES = 60
MOST_NAMED = 20
LONGEST_LINE = 300


def report(causes: Sequence[Cause], counts: Mapping[str, int], errors: Mapping[str, str]) -> str:
    """The whole report. What does not fit is counted."""
    parts = [f"## {reports.title(counts, errors)}\n\n{reports.summary(counts)}\n"]
    parts += [f"- {code(path)}: {code(reason)}\n" for path, reason in list(errors.items())[:MOST_NAMED]]
    sections = [_section(one) for one in causes]
    return bounded("".join(parts), sections, "… and {} more causes; `workbench review` lists them.")


def _section(cause: Cause) -> str:
    named = "\n".join(map(str, cause.fixtures[:MOST_NAMED]))
    more = len(cause.fixtures) - MOST_NAMED
    others = f"\n… and {more:,} more" if more > 0 else ""
    lines = reports.details(cause.example).split("\n")
    shown = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}…" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"… {len(lines) - MOST_LINES:,} more lines")
    # Indentation would keep GitHub from colouring the lines of a diff.
    diff = "\n".join(line[4:] if line.startswith("    ") else line for line in shown)
    return (
        f"\n### {code(cause.words)}\n\n{counted(cause.fixtures)}, cause `{cause.id}`\n\n"
        f"{fenced(diff, 'diff')}\n<details><summary>Fixtures</summary>\n\n{fenced(named + others)}</details>\n"
    )
