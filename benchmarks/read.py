"""Traced reading against dspy's `parse`, which traces nothing: `python benchmarks/read.py`.

Bars: 1.2 x for replies of 1 kB to 1 MB where nothing needs repair, lists of models included, 1 x where json_repair
works, 0.5 x for one-field JSON. Flags and near misses are made when asked for: not part of it, but of the second table,
which compares reading with reading and diagnosing (bar 0.5 x: twice the time at most). The last rows are replies that
fail: of 1 to 2 kB, and of 65 to 240 characters, the last of these without any output.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

import dspy  # noqa: E402
import pydantic  # noqa: E402
from oracle.engines import ours, theirs  # noqa: E402
from oracle.outcomes import divergence, outcome  # noqa: E402

from adapters.signatures.signature import Signature  # noqa: E402
from benchmarks.measure import Ratio, pair  # noqa: E402


class Item(pydantic.BaseModel):
    name: str
    price: float
    tags: list[str]


FIVE = dspy.Signature("q -> reasoning: str, answer: str, score: float, sure: bool, names: list[str]")
ITEMS = dspy.Signature(
    {"q": (str, dspy.InputField()), **{name: (list[Item], dspy.OutputField()) for name in ("a", "b")}}
)
ONE = dspy.Signature("q -> answer")
LABEL = dspy.Signature(
    {
        "q": (str, dspy.InputField()),
        "reasoning": (str, dspy.OutputField()),
        "label": (Literal["positive", "negative"], dspy.OutputField()),
    }
)
SIZES = (1_000, 10_000, 100_000, 1_000_000)


def five(size: int) -> dict[str, Any]:
    text = ('The chairs were paid on Monday, "in full".\n' * (size // 43 + 1))[: int(size * 0.45)]
    return {
        "reasoning": text,
        "answer": text,
        "score": 0.5,
        "sure": True,
        "names": ["chair", "table"] * max(1, size // 200),
    }


def items(size: int) -> dict[str, Any]:
    made = [{"name": f"chair {index}", "price": 1.5, "tags": ["a", "b"]} for index in range(max(1, size // 110))]
    return {"a": made, "b": made}


def written(name: str, signature: Any, values: dict[str, Any]) -> str:
    return str(theirs(name).format_assistant_message_content(signature, values))


def measure(what: str, bar: float, name: str, signature: Any, completion: str) -> Ratio:
    left, right = theirs(name), ours(name)
    mine = Signature.from_dspy(signature)
    found = divergence(
        outcome(lambda: left.parse(signature, completion)), outcome(lambda: right.parse(mine, completion))
    )
    if found:
        print(f"     {what}: not the same result: {found[:160]}")
    label = f"read {name}, {what}, {len(completion):,} characters"
    return pair(
        label, bar, lambda: outcome(lambda: left.parse(signature, completion)), lambda: right.read(mine, completion)
    )


def measure_diagnosis(what: str, name: str, signature: Any, completion: str) -> Ratio:
    adapter, mine = ours(name), Signature.from_dspy(signature)
    label = f"diagnose {name}, {what}, {len(completion):,} characters"
    found = pair(label, 0.5, lambda: adapter.read(mine, completion), lambda: adapter.read(mine, completion).diagnosis)
    return replace(found, compared="read")


PROSE = """The order was placed on 3 May and delivered nine days later, which the customer found slow.
Support answered within an hour and offered a refund of the shipping costs, "as a courtesy".
The two lamps work, but one shade has a dent near the rim that the photos do not show.
In the second mail the tone changes: the replacement came quickly and without a new invoice.
Overall the praise for the service outweighs the complaint about the carrier.
"""
"""A text without repetitions, unlike that of the good replies: a loop is a cause of its own."""


def failing() -> Iterator[tuple[str, str, Any, str]]:
    """Yield what is wrong, the adapter, the signature and the reply."""
    good = {**five(1_000), "reasoning": PROSE, "answer": PROSE.upper()}
    for name in ("chat", "json", "xml"):
        whole = written(name, FIVE, good)
        lacking = "".join([one for one in whole.splitlines(True) if "score" not in one and one.strip() != "0.5"])
        yield "a missing field", name, FIVE, lacking
        yield "a number with words", name, FIVE, written(name, FIVE, {**good, "score": "about 0.5"})
        yield "a wrong Literal", name, LABEL, written(name, LABEL, {"reasoning": PROSE * 2, "label": "mixed"})
        priced = [{**one, "price": "cheap"} if not number else one for number, one in enumerate(items(1_000)["a"])]
        yield "a wrong item", name, ITEMS, written(name, ITEMS, {"a": priced, "b": priced[1:]})
    yield "cut off", "chat", FIVE, written("chat", FIVE, good)[:700]
    yield "cut off", "json", FIVE, written("json", FIVE, good)[:700]
    yield "a bare &", "xml", FIVE, written("xml", FIVE, good).replace("refund of", "refund &")


SENTENCE = "The customer praises the service, but the lamp came with a dent near the rim."
SHORT = {"reasoning": SENTENCE, "answer": "Paris", "score": 0.5, "sure": True, "names": ["chair", "table"]}


NO_OUTPUTS = {
    "prose": f"{SENTENCE} It should arrive soon.",
    "a refusal": "I'm sorry, but I cannot help with that request.",
    "other keys": json.dumps({"thoughts": SENTENCE, "verdict": "negative"}),
    "a fence with broken JSON": f'```json\n{{"reasoning": "{SENTENCE}", "label": negative\n```',
}


def failing_and_short() -> Iterator[tuple[str, str, Any, str]]:
    """Yield what is wrong, the adapter, the signature and the reply, of a sentence and a value or two."""
    for name in ("chat", "json", "xml", "baml"):
        yield "a wrong Literal", name, LABEL, written(name, LABEL, {"reasoning": SENTENCE, "label": "mixed"})
        yield "a number with words", name, FIVE, written(name, FIVE, {**SHORT, "score": "about 0.5"})
    yield "cut off", "json", FIVE, written("json", FIVE, SHORT).partition("came")[0]
    for what, completion in NO_OUTPUTS.items():
        for name in ("chat", "json", "xml", "baml"):
            yield what, name, LABEL, completion


def main() -> None:
    for size in SIZES:
        for name in ("chat", "json", "xml", "baml"):
            print(measure("five fields", 1.2, name, FIVE, written(name, FIVE, five(size))), flush=True)
        for name in ("chat", "json", "xml"):
            print(measure("two lists of models", 1.2, name, ITEMS, written(name, ITEMS, items(size))), flush=True)
        print(
            measure("one field", 0.5, "json", ONE, written("json", ONE, {"answer": five(size)["answer"]})), flush=True
        )
    for size in SIZES[:3]:
        broken = written("json", ITEMS, items(size)).replace("\n  ]", ",\n  ]")
        print(measure("repaired: trailing commas", 1, "json", ITEMS, broken), flush=True)
        fenced = f"Sure:\n```json\n{written('json', FIVE, five(size))}\n```"
        print(measure("repaired: fenced, after prose", 1, "json", FIVE, fenced), flush=True)
        raw = json.dumps(five(size)).replace("\\n", "\n")
        print(measure("repaired: raw line breaks", 1, "json", FIVE, raw), flush=True)
        listed = f"[[ ## a ## ]]\n{json.dumps(items(size)['a'])[:-1]},]\n[[ ## b ## ]]\n{json.dumps(items(size)['b'])}"
        print(measure("repaired: one of two fields", 1, "chat", ITEMS, listed), flush=True)
    for size in SIZES:
        for name in ("chat", "json", "xml"):
            print(measure_diagnosis("five fields", name, FIVE, written(name, FIVE, five(size))), flush=True)
            print(measure_diagnosis("two lists of models", name, ITEMS, written(name, ITEMS, items(size))), flush=True)
    for what, name, signature, completion in chain(failing(), failing_and_short()):
        print(measure_diagnosis(what, name, signature, completion), flush=True)


if __name__ == "__main__":
    main()
