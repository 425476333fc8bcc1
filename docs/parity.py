"""How much is compared with dspy, and what is known to differ: counted by running the tests that compare.

    .venv/bin/python docs/parity.py            # every file of tests/parity, the slow tests too: half an hour
    .venv/bin/python docs/parity.py test_wire.py test_capabilities.py
    .venv/bin/python docs/parity.py --print    # what was counted last

Each file is a run of its own, whose figures go into `parity.json` when all of its tests pass; `regenerate.py` puts them
into `differences.md`. Ends with 1 when a test failed: then something diverges that nobody has explained; it is shown.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TESTS = ROOT / "tests" / "parity"
FIGURES = Path(__file__).with_name("parity.json")


def main(arguments: Sequence[str]) -> int:
    if "--print" in arguments:
        sys.stdout.write(table() + "\n")
        return 0
    names = list(arguments) or sorted(one.name for one in TESTS.glob("test_*.py"))
    failed = [name for name in names if not counted(name)]
    sys.stdout.write(table() + "\n")
    for name in failed:
        sys.stderr.write(f"{name}: a test failed, and its figures are those of before\n")
    return 1 if failed else 0


def counted(name: str) -> bool:
    """Runs one file; whether all of its tests passed, and what they counted is written."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "figures.json"
        command = [sys.executable, "-m", "pytest", "-q", "-m", "slow or not slow", f"--parity-figures={found}"]
        done = subprocess.run([*command, str(TESTS / name)], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.stderr.write(f"{done.stdout[-4000:]}\n")
            return False
        figures = read()
        figures["dspy"] = version("dspy")
        figures["files"] = dict(
            sorted({**figures.get("files", {}), name: json.loads(found.read_text("utf-8"))}.items())
        )
    FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return True


def read() -> dict[str, Any]:
    """What was counted last: the release of dspy, and by file `tests`, `compared` and `explained`."""
    found: dict[str, Any] = json.loads(FIGURES.read_text("utf-8")) if FIGURES.exists() else {}
    return found


def table() -> str:
    """The figures in Markdown: what was compared and how often, and below it each case that differs, and why."""
    figures = read()
    counts: Counter[str] = Counter()
    explained: dict[str, str] = {}
    tests = 0
    for one in figures["files"].values():
        counts.update(one["compared"])
        explained.update({f"{what}, {case}": why for what, case, why in one["explained"]})
        tests += one["tests"]
    rows = [f"| {what} | {count:,} |" for what, count in sorted(counts.items())]
    differing = [f"- {case}: {why}." for case, why in sorted(explained.items())]
    return "\n".join(
        [
            f"dspy {figures['dspy']}, {tests:,} tests: {sum(counts.values()):,} comparisons. "
            + (f"Different: {len(explained)}, named below with the reason." if explained else "None differs."),
            "",
            "| compared | cases |",
            "|---|---|",
            *rows,
            *(["", *differing] if differing else []),
        ]
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
