"""Traced rendering against dspy's `format`, which traces nothing: `python benchmarks/render.py`.

Bars: DESIGN 6 of the project's documents: 4 x at 16, 100 and 1,000 demos, 1.5 x at none, 50 x after an edit to one demo
of 1,000; for TwoStep 0.5 x and 10 x.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

import dspy  # noqa: E402
import pydantic  # noqa: E402
from oracle.engines import NAMES, ours, theirs  # noqa: E402

from adapters.signatures.signature import Signature  # noqa: E402
from benchmarks.measure import Ratio, pair  # noqa: E402


class Item(pydantic.BaseModel):
    name: str
    price: float
    tags: list[str]


class Invoice(dspy.Signature):  # type: ignore[misc]
    """Extract the invoice from the note."""

    note: str = dspy.InputField(desc="what was said")
    context: list[str] = dspy.InputField()
    summary: str = dspy.OutputField(desc="one sentence")
    total: float = dspy.OutputField()
    kind: Literal["paid", "open"] = dspy.OutputField()


class Wide(dspy.Signature):  # type: ignore[misc]
    """Five fields with models."""

    note: str = dspy.InputField()
    year: int = dspy.InputField()
    items: list[Item] = dspy.OutputField()
    summary: str = dspy.OutputField()
    sure: bool = dspy.OutputField()


def invoice(rng: random.Random, size: int) -> dict[str, Any]:
    text = " ".join(
        rng.choice(("paid", "the", "bill", "for", "twelve", "chairs", "on", "Monday")) for _ in range(size // 5)
    )
    return {
        "note": text,
        "context": [text[:40], text[40:90]],
        "summary": text[:60],
        "total": rng.random(),
        "kind": "paid",
    }


def wide(rng: random.Random, size: int) -> dict[str, Any]:
    text = "words " * (size // 6)
    items = [Item(name=f"chair {index}", price=rng.random(), tags=["a", "b"]) for index in range(2)]
    return {"note": text, "year": 2024, "items": items, "summary": text[:60], "sure": True}


def measure(name: str, signature: Any, make: Any, count: int, size: int) -> Ratio:
    rng = random.Random(1)
    demos = [make(rng, size) for _ in range(count)]
    inputs = make(rng, size)
    mine = Signature.from_dspy(signature)
    left, right = theirs(name), ours(name)
    assert right.format(mine, demos, inputs) == left.format(signature, demos, inputs)
    bar = 0.5 if name == "twostep" else 4 if count else 1.5
    what = f"render {name}, {signature.__name__}, {count} demos of {size} characters"
    return pair(what, bar, lambda: left.format(signature, demos, inputs), lambda: right.render(mine, demos, inputs))


def measure_edit(name: str, signature: Any, make: Any) -> Ratio:
    rng = random.Random(2)
    demos = [make(rng, 200) for _ in range(1000)]
    inputs = make(rng, 200)
    mine = Signature.from_dspy(signature)
    left, right = theirs(name), ours(name)
    state = {"prompt": right.render(mine, demos, inputs), "turn": 0}

    def edited() -> list[Any]:
        state["turn"] += 1
        changed = dict(demos[500])
        changed["summary"] = f"edited {state['turn']}"
        demos[500] = changed
        return demos

    def reuse() -> None:
        state["prompt"] = right.render(mine, edited(), inputs, reuse=state["prompt"])

    what = f"after an edit to one demo of 1,000, {name}, {signature.__name__}"
    found = pair(what, 10 if name == "twostep" else 50, lambda: left.format(signature, edited(), inputs), reuse)
    reuse()
    assert state["prompt"].as_dicts() == left.format(signature, demos, inputs)
    return found


def main() -> None:
    for name in NAMES:
        for count, size in ((0, 200), (16, 200), (100, 200), (100, 2000), (1000, 200)):
            print(measure(name, Invoice, invoice, count, size), flush=True)
        print(measure(name, Wide, wide, 100, 200), flush=True)
        print(measure_edit(name, Invoice, invoice), flush=True)


if __name__ == "__main__":
    main()
