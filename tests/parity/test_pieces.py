"""The pieces an adapter is made of, under dspy's method and function names: each gives what dspy's gives."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import dspy
import pytest
from dspy.adapters import utils
from oracle import calls, signatures
from oracle import vocabulary as words
from oracle.engines import NAMES, ScriptedLM, ours, theirs
from oracle.outcomes import difference, divergence, outcome, plain
from oracle.specs import Built
from oracle.tally import Record, Tally

import adapters

SEEDS = 30
BLOCKS = [*range(1), *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, 12))]

Piece = Callable[[Any, Any], Any]


def pieces(rng: random.Random, name: str, built: Built) -> Iterator[tuple[str, Piece]]:
    """Every formatting method of an adapter, as a function of adapter and signature."""
    demos = [signatures.demo(rng, built) for _ in range(3)]
    inputs, outputs = signatures.inputs(rng, built), signatures.demo(rng, built)
    prefix, suffix = rng.choice(("", "Before.", "  ")), rng.choice(("", "After.", "\n"))
    missing = rng.choice((None, "not there", ""))
    yield "format_system_message", lambda adapter, signature: adapter.format_system_message(signature)
    yield "format_field_description", lambda adapter, signature: adapter.format_field_description(signature)
    yield "format_field_structure", lambda adapter, signature: adapter.format_field_structure(signature)
    yield "format_task_description", lambda adapter, signature: adapter.format_task_description(signature)
    yield (
        "format_user_message_content",
        lambda adapter, signature: adapter.format_user_message_content(signature, inputs, prefix, suffix),
    )
    yield (
        "format_user_message_content, the request",
        lambda adapter, signature: adapter.format_user_message_content(
            signature, inputs, suffix=suffix, main_request=True
        ),
    )
    yield (
        "format_assistant_message_content",
        lambda adapter, signature: adapter.format_assistant_message_content(signature, outputs, missing),
    )
    yield "format_demos", lambda adapter, signature: adapter.format_demos(signature, demos)
    if name in ("chat", "xml"):  # dspy has none for the others; ours has
        yield (
            "format_finetune_data",
            lambda adapter, signature: adapter.format_finetune_data(signature, demos, inputs, outputs),
        )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("block", BLOCKS)
def test_every_piece_of_a_prompt(block: int, name: str, record: Record) -> None:
    tally = Tally(f"pieces of prompts, {name}")
    for seed in range(block * SEEDS, (block + 1) * SEEDS):
        rng = random.Random(f"piece {seed} {name}")
        built = signatures.signature(rng)
        for piece, made in pieces(rng, name, built):
            left = outcome(lambda: plain(made(theirs(name), built.theirs)))  # noqa: B023
            right = outcome(lambda: plain(made(ours(name), built.ours)))  # noqa: B023
            tally.add(f"{seed} {piece}", divergence(left, right))
    tally.report(record)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_history_as_messages(name: str, record: Record) -> None:
    tally = Tally("histories")
    for seed in range(60):
        rng = random.Random(f"history {seed}")
        built = signatures.signature(rng)
        turns = signatures.history(rng, built)

        def messages(adapter: Any, signature: Any) -> Any:
            inputs = {"history": deepcopy(turns), "x": 1}  # noqa: B023
            return plain(adapter.format_conversation_history(signature, "history", inputs)), list(inputs)

        left = outcome(lambda: messages(theirs(name), built.theirs))  # noqa: B023
        right = outcome(lambda: messages(ours(name), built.ours))  # noqa: B023
        tally.add(str(seed), divergence(left, right))
    tally.report(record)


@pytest.mark.slow
def test_the_helpers_custom_adapters_use(record: Record) -> None:
    tally = Tally("helpers")
    for seed in range(300):
        rng = random.Random(f"helper {seed}")
        built = signatures.signature(rng)
        for name, info in built.theirs.fields.items():
            field = built.ours.fields[name]
            value = rng.choice((signatures.value(rng, info.annotation), rng.choice(signatures.ODD)))
            helpers: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
                "translate_field_type": (
                    lambda: utils.translate_field_type(name, info),  # noqa: B023
                    lambda: plain(adapters.translate_field_type(name, field)),  # noqa: B023
                ),
                "get_field_description_string": (
                    lambda: utils.get_field_description_string({name: info}),  # noqa: B023
                    lambda: plain(adapters.get_field_description_string({name: field})),  # noqa: B023
                ),
                "serialize_for_json": (
                    lambda: utils.serialize_for_json(value),  # noqa: B023
                    lambda: adapters.serialize_for_json(value),  # noqa: B023
                ),
                "format_field_value": (
                    lambda: utils.format_field_value(field_info=info, value=value),  # noqa: B023
                    lambda: adapters.format_field_value(field_info=field, value=value),  # noqa: B023
                ),
                "parse_value": (
                    lambda: utils.parse_value(value, info.annotation),  # noqa: B023
                    lambda: adapters.parse_value(value, info.annotation),  # noqa: B023
                ),
            }
            for helper, (left, right) in helpers.items():
                tally.add(f"{seed} {name} {helper}", divergence(outcome(left), outcome(right)))
    for member in ("red", "RED", "Red", 1, None):
        one = outcome(lambda: utils.find_enum_member(words.Color, member))  # noqa: B023
        other = outcome(lambda: adapters.find_enum_member(words.Color, member))  # noqa: B023
        tally.add(f"find_enum_member {member}", divergence(one, other))
    tally.report(record)


@pytest.mark.slow
def test_asynchronous_calls_of_twostep_await_both_models(record: Record) -> None:
    tally = Tally("asynchronous calls of TwoStep")
    for seed in range(120):
        one = calls.call(random.Random(f"asynchronous {seed} twostep"), "twostep")
        extracting = calls.call(random.Random(f"extraction {seed}"), "chat").outputs
        sent, results = [], []
        for make, signature in ((theirs, one.built.theirs), (ours, one.built.ours)):
            main, extraction = ScriptedLM(one.outputs, **one.lm), ScriptedLM(extracting, **one.lm)
            adapter = make("twostep", one.options, extraction)
            arguments = (deepcopy(one.lm_kwargs), signature, list(one.demos), dict(one.inputs))
            results.append(outcome(lambda: asyncio.run(adapter.acall(main, *arguments))))  # noqa: B023
            sent.append((main.calls, extraction.calls, main.awaited, extraction.awaited))
        tally.add(str(seed), difference(*sent, at="sent") or divergence(*results))
    tally.report(record)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chat", "json", "xml", "baml"])
def test_asynchronous_calls(name: str, record: Record) -> None:
    tally = Tally("asynchronous calls")
    for seed in range(40):
        one = calls.call(random.Random(f"asynchronous {seed} {name}"), name)

        def run(adapter: Any, signature: Any, model: ScriptedLM) -> Any:
            arguments = (deepcopy(one.lm_kwargs), signature, list(one.demos), dict(one.inputs))  # noqa: B023
            return asyncio.run(adapter.acall(model, *arguments))

        for_them, for_us = ScriptedLM(one.outputs, **one.lm), ScriptedLM(one.outputs, **one.lm)
        left = outcome(lambda: run(theirs(name, one.options, for_them), one.built.theirs, for_them))  # noqa: B023
        right = outcome(lambda: run(ours(name, one.options, for_us), one.built.ours, for_us))  # noqa: B023
        tally.add(str(seed), difference(for_them.calls, for_us.calls, at="sent") or divergence(left, right))
    tally.report(record)


@pytest.mark.slow
def test_demos_may_be_dspys_examples(record: Record) -> None:
    tally = Tally("prompts with dspy's examples as demos")
    for seed in range(60):
        rng = random.Random(f"example {seed}")
        built = signatures.signature(rng)
        demos = [dspy.Example(**signatures.demo(rng, built)) for _ in range(3)]
        inputs = signatures.inputs(rng, built)
        for name in NAMES:
            left = outcome(lambda: theirs(name).format(built.theirs, demos, inputs))  # noqa: B023
            right = outcome(lambda: plain(ours(name).format(built.ours, demos, inputs)))  # noqa: B023
            tally.add(f"{seed} {name}", divergence(left, right))
    tally.report(record)
