"""Generated cases: thousands of signatures, prompts, replies, values and whole calls, asked of both engines.

Every case has a name that holds its seed, so `pytest -k` and a seed repeat it. `pytest -m slow` runs 40 times as many.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import calls, compare, replies, signatures
from oracle import vocabulary as words
from oracle.engines import NAMES
from oracle.tally import Record, Tally

PARSERS = tuple(name for name in NAMES if name != "twostep")
SEEDS = 50
BLOCKS = [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, 84))]


def seeds(block: int) -> range:
    return range(block * SEEDS, (block + 1) * SEEDS)


@pytest.mark.parametrize("block", BLOCKS)
def test_generated_prompts(block: int, record: Record) -> None:
    tally = Tally("generated prompts")
    for seed in seeds(block):
        rng = random.Random(f"prompt {seed}")
        built = signatures.signature(rng)
        demos = [signatures.demo(rng, built) for _ in range(rng.choice((0, 0, 1, 2, 3)))]
        inputs = signatures.inputs(rng, built)
        for name in NAMES:
            tally.add(f"{seed} {name}", compare.formatting(name, built, demos, inputs))
    tally.report(record)


@pytest.mark.parametrize("block", BLOCKS)
def test_generated_replies(block: int, record: Record) -> None:
    tally = Tally("generated replies")
    for seed in seeds(block):
        rng = random.Random(f"reply {seed}")
        built = signatures.signature(rng)
        for name in PARSERS:
            for number in range(3):
                completion = replies.reply(rng, name, built)
                tally.add(f"{seed} {name} {number}", compare.parsing(name, built, completion))
    tally.report(record)


@pytest.mark.parametrize("block", BLOCKS)
def test_generated_values(block: int, record: Record) -> None:
    tally = Tally("generated values")
    for seed in seeds(block):
        rng = random.Random(f"value {seed}")
        annotation = signatures.annotation(rng)
        for number in range(8):
            tally.add(f"{seed} {number}", compare.coercing(annotation, _raw(rng, annotation)))
    tally.report(record)


def _raw(rng: random.Random, annotation: Any) -> Any:
    roll = rng.random()
    if roll < 0.3:
        return replies.raw(rng)
    if roll < 0.45:
        return rng.choice(words.TEXTS)
    if roll < 0.6:
        return rng.choice(signatures.ODD)
    value = signatures.value(rng, annotation)
    if roll < 0.75:
        return value
    text = _text_of(value)
    for _ in range(rng.choice((0, 1, 2))):
        text = rng.choice(replies.MUTATIONS)(rng, text, _PLAIN)
    return text


def _text_of(value: Any) -> str:
    import json

    from dspy.adapters.utils import serialize_for_json

    try:
        return json.dumps(serialize_for_json(value), ensure_ascii=False)
    except Exception:
        return repr(value)


_PLAIN = signatures.built({"a": str})


@pytest.mark.parametrize("block", BLOCKS)
def test_generated_whole_calls(block: int, record: Record) -> None:
    tally = Tally("generated whole calls")
    for seed in seeds(block):
        for name in NAMES:
            rng = random.Random(f"call {seed} {name}")
            one = calls.call(rng, name)
            found = compare.calling(
                name, one.built, one.demos, one.inputs, one.outputs, one.options, one.lm, one.lm_kwargs
            )
            tally.add(f"{seed} {name}", found)
    tally.report(record)


@pytest.mark.parametrize("block", BLOCKS)
def test_generated_requests_prepared_without_a_call(block: int, record: Record) -> None:
    tally = Tally("generated requests")
    for seed in seeds(block):
        for name in NAMES:
            one = calls.call(random.Random(f"request {seed} {name}"), name)
            found = compare.requesting(name, one.built, one.demos, one.inputs, one.options, one.lm, one.lm_kwargs)
            tally.add(f"{seed} {name}", found)
    tally.report(record)


FRAGMENTS = st.sampled_from(
    (
        "[[ ## reasoning ## ]]",
        "[[ ## answer ## ]]",
        "[[ ## completed ## ]]",
        "[[ ## x ## ]]",
        "\n",
        " ",
        "\r\n",
        "\u2028",
        "\x85",
        "{",
        "}",
        "[",
        "]",
        '"',
        "'",
        "\\",
        ":",
        ",",
        '"reasoning"',
        '"answer"',
        "reasoning",
        "answer",
        "<reasoning>",
        "</reasoning>",
        "<answer>",
        "</answer>",
        "<item>",
        "</item>",
        "&",
        "&amp;",
        "<",
        ">",
        "1",
        "1.5",
        "true",
        "None",
        "null",
        "text",
        "é",
        "\ud800",
        "\x00",
        "```",
        "```json",
        "//",
        "#",
        "(",
        ")",
        "-",
    )
)
KINDS: dict[str, Any] = {
    "str": str,
    "int": int,
    "list[int]": list[int],
    "Any": Any,
    "dict[str, Any]": dict[str, Any],
    "str | None": str | None,
    "Person": words.Person,
    "Literal": words.LITERALS[0],
    "Color": words.Color,
}


@pytest.mark.parametrize("kind", KINDS)
def test_replies_made_of_fragments(kind: str, record: Record) -> None:
    """Small replies of the very pieces that parsers look for; hypothesis shrinks the one that diverges."""
    built = signatures.built({"reasoning": str, "answer": KINDS[kind]})
    compared = 0

    @settings(max_examples=60, deadline=None, derandomize=True, database=None)
    @given(st.lists(FRAGMENTS, max_size=14).map("".join))
    def check(completion: str) -> None:
        nonlocal compared
        for name in PARSERS:
            compared += 1
            assert compare.parsing(name, built, completion) is None

    check()
    record("parity compared", ("replies of fragments", compared))
