"""Signs and words of the stress test, for the command line, the app and the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from adapters.replies.patterns import PATTERNS
from sessions.errors import few
from sessions.text_diff import common_ends
from workbench.output import display

if TYPE_CHECKING:
    from sessions.stress.grid import Cell, Grid, Survival, Verdict

SIGNS: Mapping[Verdict, str] = {"same": "✓", "refused": "✗", "flagged": "!", "silently_wrong": "≠"}
NOT_APPLICABLE = "·"
WORDS: Mapping[Verdict, str] = {
    "silently_wrong": "silently wrong",
    "flagged": "flagged",
    "refused": "parse error",
    "same": "same values",
}
MEANINGS: Mapping[Verdict, str] = {
    "silently_wrong": "parsed to a different value, with no flag",
    "flagged": "parsed to a different value, flagged here (dspy has no flags)",
    "refused": "the parser raises, so the program sees the error",
    "same": "every value is as the reply means it",
}
"""Short forms of the definitions in `sessions.stress.grid`."""


MOST_LOST, MOST_FIXES = 5, 2
"""The most mutations and fixes named in the closing lines."""
SHOWN = 60
"""The most characters of a value in a line of differences."""


def differences(cell: Cell, shown: int = SHOWN) -> list[str]:
    """Return a line for each wrong field with `shown` characters of the intended and the parsed value, not gated."""
    values = cell.reading.values
    lines = []
    for name in cell.wrong:
        meant, read = [display.value_text(one[name]) if name in one else "nothing" for one in (cell.meant, values)]
        start = max(0, common_ends(meant, read)[0] - shown // 3)  # from shortly before their first difference
        lines.append(f"{name}: {display.excerpt(meant, start, shown)} → {display.excerpt(read, start, shown)}")
    return lines


def decision(found: Grid) -> list[str]:
    """Rank the columns by the kinds of damage that apply to all of them; empty for a single column.

    The last line sums up: `json survives 61 of 70 kinds of damage, chat 44; chat loses: …; the fix: …`.
    """
    columns = [one for one in found.columns if one.good is not None]
    common = [one.name for one in found.mutations if all(one.name in column.cells for column in columns)]
    if len(columns) < 2 or not common:
        return []

    def survives(column: Survival, name: str) -> bool:
        return column.cells[name].verdict == "same"

    weights = {name: len(_threads([column.cells[name] for column in columns])) for name in common}
    counts = {one.id: sum(survives(one, name) for name in common) for one in columns}
    weighed = {one.id: sum(weights[name] for name in common if survives(one, name)) for one in columns}
    ranked = sorted(columns, key=lambda one: (-counts[one.id], -weighed[one.id]))
    best, worst = ranked[0], ranked[-1]
    some = len(found.mutations) - len(common)
    lines = [
        f"Of {len(common)} kinds of damage that apply to every column, each survives:",
        "  " + ", ".join(f"{one.id} {counts[one.id]}" for one in ranked),
        *([f"{some} more kinds apply to some columns only"] if some else []),
        f"Weighted by the public reports of each kind, {sum(weights.values())} in all:",
        "  " + ", ".join(f"{one.id} {weighed[one.id]}" for one in sorted(columns, key=lambda one: -weighed[one.id])),
    ]
    if len(columns) > 2:
        lines += _pair({one.id: {name for name in common if survives(one, name)} for one in columns}, weights)
    lost = [name for name in common if survives(best, name) and not survives(worst, name)]
    if not lost:
        return lines
    kinds = f"{best.id} survives {counts[best.id]} of {len(common)} kinds of damage, {worst.id} {counts[worst.id]}"
    names = _some(sorted(lost, key=lambda name: -weights[name]))
    fixes: Counter[tuple[str, str]] = Counter()
    for name in lost:
        causes = worst.cells[name].reading.diagnosis
        fixes.update(list(dict.fromkeys([(fix.kind, fix.message) for cause in causes for fix in cause.fixes])))
    best_first = sorted(fixes, key=lambda one: (-fixes[one], one[0] == "adapter"))[:MOST_FIXES]
    helps = [f"{said[:1].lower()}{said[1:].removesuffix('.')}" for _, said in best_first]
    told = ", or ".join(f"{one} ({fixes[fix]} of {len(lost)})" for one, fix in zip(helps, best_first, strict=True))
    return [*lines, f"{kinds}; {worst.id} loses: {names}; the fix: {told or 'none is known'}"]


def _pair(survived: Mapping[str, set[str]], weights: Mapping[str, int]) -> list[str]:
    """Name the two columns that together survive the most reports, and the damage only they survive."""

    def weight(pair: tuple[str, str]) -> tuple[int, int]:
        both = survived[pair[0]] | survived[pair[1]]
        return sum(weights[name] for name in both), len(both)

    best = max(combinations(survived, 2), key=weight)
    others: set[str] = set().union(*[names for id, names in survived.items() if id not in best])
    alone = sorted((survived[best[0]] | survived[best[1]]) - others, key=lambda name: (-weights[name], name))
    return [
        f"{best[0]} and {best[1]} together survive the most: {weight(best)[0]} of {sum(weights.values())} reports",
        *([f"  no other column survives {_some(alone)}"] if alone else []),
    ]


def _some(names: Sequence[str]) -> str:
    """Quote the first names: some hold a comma themselves."""
    return few([f'"{one}"' for one in names], MOST_LOST)


_THREADS = re.compile(r"([\w.-]+) ?((?:#\d+ ?)+)")


def _threads(cells: Sequence[Cell]) -> set[tuple[str, str]]:
    """Return the public reports of a kind of damage: those it imitates, and those of its diagnosed causes."""
    causes = {one.cause for cell in cells for one in cell.reading.diagnosis}
    texts = [cells[0].mutation.imitates, *[one.threads for one in PATTERNS if one.name in causes]]
    return {
        (repository, number)
        for text in texts
        for repository, numbers in _THREADS.findall(text)
        for number in numbers.split()
    }


def sources(columns: tuple[Survival, ...]) -> list[str]:
    """List the sources of the damaged replies: `demo 1`, or `demo 1 (chat, json)` if columns differ."""
    found: dict[str, list[str]] = {}
    for column in columns:
        if column.good is not None:
            found.setdefault(column.good.source, []).append(column.id)
    return list(found) if len(found) == 1 else [f"{source} ({', '.join(ids)})" for source, ids in found.items()]


def passed_over(columns: tuple[Survival, ...]) -> list[str]:
    """List better candidates that could not be used, with the reason, without duplicates."""
    return list(dict.fromkeys(said for one in columns if one.good is not None for said in one.good.passed_over))
