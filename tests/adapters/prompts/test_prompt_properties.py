"""Every character of a prompt knows where it came from."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from oracle import signatures
from oracle.outcomes import outcome, plain
from oracle.traces import pieces_not_of, prompt_faults

from adapters.formats import catalog
from adapters.formats.catalog import make
from adapters.formats.conversation import _kept_once
from adapters.prompts.text import Text
from adapters.signatures.notation import read
from adapters.signatures.signature import Signature

ALL = catalog.NAMES
SEEDS = 30
BLOCKS = [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, 40))]


def cases(block: int) -> list[tuple[int, Signature, list[Any], dict[str, Any]]]:
    made = []
    for seed in range(block * SEEDS, (block + 1) * SEEDS):
        rng = random.Random(f"origins {seed}")
        built = signatures.signature(rng)
        demos = [signatures.demo(rng, built) for _ in range(rng.choice((0, 1, 2)))]
        made.append((seed, built.ours, demos, signatures.inputs(rng, built)))
    return made


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("block", BLOCKS)
def test_segments_joined_are_the_messages(block: int, name: str) -> None:
    adapter = make(name)
    faults: list[str] = []
    for seed, signature, demos, inputs in cases(block):
        rendered = outcome(lambda: adapter.render(signature, demos, dict(inputs)))  # noqa: B023
        formatted = outcome(lambda: adapter.format(signature, demos, dict(inputs)))  # noqa: B023
        assert type(rendered.error) is type(formatted.error), seed
        if rendered.error is None:
            faults.extend(f"{seed}: {fault}" for fault in prompt_faults(rendered.value))
            assert plain(rendered.value.as_dicts()) == plain(formatted.value), seed
    assert not faults, "\n".join(faults[:10])


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("block", BLOCKS)
def test_a_fields_description_shows_only_in_segments_of_that_field(block: int, name: str) -> None:
    adapter = make(name)
    for seed, signature, demos, inputs in cases(block):
        before = outcome(lambda: adapter.render(signature, demos, dict(inputs)))  # noqa: B023
        if before.error is not None:
            continue
        for field in signature.fields:
            changed = described(
                signature, field, "An entirely different description, with [[ ## markers ## ]] & <tags>."
            )
            after = adapter.render(changed, demos, dict(inputs))
            assert pieces_not_of(before.value, field) == pieces_not_of(after, field), f"{seed} {field}"


def described(signature: Signature, field: str, desc: str) -> Signature:
    fields = tuple(replace(one, desc=desc) if one.name == field else one for one in signature.fields_in_order)
    return Signature(fields, signature.instructions, signature.name)


@pytest.mark.parametrize("name", ALL)
def test_a_prompt_reused_after_an_edit_is_the_prompt_made_anew(name: str) -> None:
    adapter = make(name)
    for seed, signature, _, inputs in cases(1):
        rng = random.Random(seed)
        built = signatures.undescribed(signature)
        demos = [signatures.demo(rng, built) for _ in range(6)]
        first = outcome(lambda: adapter.render(signature, demos, dict(inputs)))  # noqa: B023
        if first.error is not None:
            continue
        edited = [*demos[:2], signatures.demo(rng, built), *demos[4:], demos[3]]
        anew = outcome(lambda: adapter.render(signature, edited, dict(inputs)))  # noqa: B023
        reused = outcome(lambda: adapter.render(signature, edited, dict(inputs), reuse=first.value))  # noqa: B023
        assert type(anew.error) is type(reused.error), seed
        if anew.error is None:
            assert reused.value == anew.value, seed
            assert [one.turn for one in reused.value.messages] == [one.turn for one in anew.value.messages]


@pytest.mark.parametrize("name", ["chat", "json", "xml", "baml", "twostep"])
def test_demos_are_taken_over_by_a_signature_that_differs_in_its_words_only(name: str) -> None:
    before = read("question, context: list[str] -> answer, score: float")
    after = before.with_instructions("Other words.").with_updated_fields("answer", desc="a description")
    demos = [{"question": f"{number}", "context": ["c"], "answer": "a", "score": 1} for number in range(5)]
    adapter = make(name)
    prompt = adapter.render(before, demos, {"question": "q"})
    reused = adapter.render(after, demos, {"question": "q"}, reuse=prompt)
    assert reused.as_dicts() == adapter.render(after, demos, {"question": "q"}).as_dicts()
    assert reused.messages[1] is prompt.messages[1]


@pytest.mark.parametrize("name", ["chat", "json", "xml", "baml", "twostep"])
def test_demos_are_made_anew_for_a_signature_with_another_field(name: str) -> None:
    before = read("question -> answer")
    after = read("question -> answer: list[str]")
    demos = [{"question": "q", "answer": ["a", "b"]}]
    adapter = make(name)
    prompt = adapter.render(before, demos, {})
    reused = adapter.render(after, demos, {}, reuse=prompt)
    assert reused.as_dicts() == adapter.render(after, demos, {}).as_dicts()


def test_adapters_share_a_demos_long_texts_of_the_same_origins() -> None:
    signature, demos = read("question -> answer"), [{"question": "Why so? " * 100, "answer": "so"}]
    prompts = [make(name).render(signature, demos, {"question": "?"}) for name in ("chat", "json", "xml")]
    chat, json, xml = [prompt.messages[1].parts[0] for prompt in prompts]
    assert json is chat and xml != chat
    assert [piece for prompt in prompts for piece in prompt_faults(prompt)] == []
    plain_text = Text.of(str(chat), "custom")
    assert type(plain_text) is Text and plain_text == chat and _kept_once(plain_text) is plain_text
