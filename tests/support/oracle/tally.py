"""How many cases were compared, and which ones diverged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Record = Callable[[str, object], None]
COMPARED, NOT_COMPARABLE = "parity compared", "parity not comparable"
SHOWN = 12


@dataclass
class Tally:
    """Collects the comparisons of one test; `report` fails the test when any of them diverged."""

    what: str
    allowed: Mapping[str, str] = field(default_factory=dict)
    """Cases known to diverge, by name, with the reason; one that no longer diverges is reported too."""
    compared: int = 0
    diverged: list[tuple[str, str]] = field(default_factory=list)
    excused: list[str] = field(default_factory=list)

    def add(self, case: str, found: str | None) -> None:
        self.compared += 1
        if found is None:
            return
        if case in self.allowed:
            self.excused.append(case)
        else:
            self.diverged.append((case, found))

    def report(self, record: Record) -> None:
        record(COMPARED, (self.what, self.compared))
        for case in self.excused:
            record(NOT_COMPARABLE, (self.what, case, self.allowed[case]))
        shown = "\n".join(f"  {case}: {found}" for case, found in self.diverged[:SHOWN])
        assert not self.diverged, f"{len(self.diverged)} of {self.compared} {self.what} diverge from dspy:\n{shown}"
        assert self.compared, f"no {self.what} were compared"
