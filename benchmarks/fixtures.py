"""Fixtures that fail, and pytest's collection: `python benchmarks/fixtures.py` measures each in turn with its base.

Failing fixtures have other instructions than their recordings; they stand beside the same fixtures, unchanged. pytest
collects the files that `workbench check` checks. Processor time of whole processes, medians of paired runs.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1])]

from benchmarks.check import write  # noqa: E402
from benchmarks.measure import tell  # noqa: E402
from benchmarks.starting import processor  # noqa: E402

FILES = 1_000
ROUNDS = 3
PYTEST = ("-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        for name in ("passing", "failing"):
            (here / name).mkdir()
        for number, path in enumerate(write(here, 20, 20)[:FILES]):
            data = json.loads(path.read_text())
            path.rename(here / "passing" / f"{number}.session.json")
            data["signature"]["instructions"] = "Answer in other words."
            (here / "failing" / f"{number}.session.json").write_text(json.dumps(data))
        check = ("-m", "workbench", "check")
        _compare(f"{FILES:,} files that fail", 2.0, (*check, "failing"), 1, (*check, "passing"), here)
        _compare(f"pytest collects {FILES:,} files", 1.5, (*PYTEST, "passing"), 0, (*check, "passing"), here)


def _compare(what: str, bar: float, words: Sequence[str], code: int, least: Sequence[str], here: Path) -> None:
    pairs = [(processor(words, here, code), processor(least, here)) for _ in range(ROUNDS + 1)][1:]
    mine, base = (sorted(times) for times in zip(*pairs, strict=True))
    tell(what, bar, mine, base)


if __name__ == "__main__":
    sys.exit(main())
