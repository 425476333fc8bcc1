"""Every character of a prompt knows where it came from."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pydantic
import pytest
from oracle import signatures
from oracle.outcomes import outcome, plain
from oracle.traces import pieces_not_of, prompt_faults

from adapters.formats import catalog
from adapters.formats.catalog import make
from adapters.formats.chat import ChatAdapter
from adapters.prompts.text import Prompt
from adapters.signatures.notation import read
from adapters.signatures.signature import Signature

SHARING = Prompt(())
"""A prompt to reuse: adapters share the demos of prompts that are made with one."""

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


def test_adapters_share_the_messages_of_demos_that_they_write_alike() -> None:
    signature = read("question, context: list[str] -> answer")
    demos = [{"question": "Why?", "context": ["so"], "answer": "so"}, {"question": "Why?", "answer": None}]
    names = ("chat", "json", "xml", "baml")
    prompts = [make(name).render(signature, demos, {}, SHARING) for name in names]
    again = [make(name).render(signature, demos, {}).messages[1] for name in ("chat", "json")]
    assert [one.as_dicts() for one in prompts] == [make(name).format(signature, demos, {}) for name in names]
    assert [piece for prompt in prompts for piece in prompt_faults(prompt)] == []
    chat, json, xml, baml = [prompt.messages[1:5] for prompt in prompts]
    assert [a is b for a, b in zip(chat, json, strict=True)] == [True, False] * 2
    assert [a is b for a, b in zip(json, baml, strict=True)] == [True] * 4
    assert not {id(one) for one in xml} & {id(one) for one in (*chat, *json)}
    assert chat[0] is not again[0] is not again[1], "only where a prompt is given do demos stand for their content"


class Bill(pydantic.BaseModel):
    total: int


def test_a_value_that_adapters_write_differently_is_not_shared() -> None:
    signature = read("bill: list[str] -> answer")
    demos = [{"bill": Bill(total=2), "answer": "so"}, {"bill": ["2"], "answer": "so"}]
    prompts = {name: make(name).render(signature, demos, {}, SHARING) for name in ("chat", "json", "baml")}
    for name, prompt in prompts.items():
        assert prompt.as_dicts() == make(name).format(signature, demos, {})
        for other in prompts:
            reused = make(other).render(signature, demos, {}, prompt)
            assert reused.as_dicts() == make(other).format(signature, demos, {})
    assert str(prompts["json"].messages[1].text) != str(prompts["baml"].messages[1].text)


def test_an_adapter_of_a_user_shares_no_demos() -> None:
    class Mine(ChatAdapter):
        end = "!"

        def input_text(self, annotation: object, value: object) -> str:
            return f"{value}{self.end}"

    own_end, own_method = Mine(), ChatAdapter()
    own_end.end = "."
    own_method.input_text = lambda annotation, value: f"{value}?"  # type: ignore[method-assign]
    signature, demos = read("question -> answer"), [{"question": "Why", "answer": "so"}]
    adapters = (ChatAdapter(), Mine(), own_end, own_method, make("json"))
    prompts = [one.render(signature, demos, {}, SHARING) for one in adapters]
    texts = [str(prompt.messages[1].text).removeprefix("[[ ## question ## ]]\n") for prompt in prompts]
    assert texts == ["Why", "Why!", "Why.", "Why?", "Why"]


def test_shared_demos_have_their_own_numbers_and_fields() -> None:
    signature = read("question -> answer")
    first, second = {"question": "1", "answer": "1"}, {"question": "2", "answer": "2"}
    for name in ("json", "baml"):
        for demos in ([second, first], [second], [first, first], [first, {**second}]):
            for given in (signature, read("question -> answer, more"), read("answer -> question")):
                lent = make("chat").render(signature, [first, second], {}, SHARING)
                prompt = make(name).render(given, demos, {}, SHARING)
                anew = make(name).render(given, demos, {})
                assert (prompt, prompt.demos) == (anew, anew.demos)
                assert len(lent.demos) == 2


@pytest.mark.parametrize(
    ("description", "line"),
    [
        ("How sure.", "How sure. Greater than or equal to: 0; must be a single float value; may be left out"),
        ("how sure", "how sure; greater than or equal to: 0; must be a single float value; may be left out"),
    ],
)
def test_notes_of_the_markdown_prompt_follow_a_sentence_as_one(description: str, line: str) -> None:
    source = f"""class A(dspy.Signature):
    q: str = dspy.InputField()
    a: float = dspy.OutputField(desc={description!r}, ge=0, default=1.0)
"""
    prompt = make("markdown").render(read(source), [], {"q": "x"})
    assert f"- `a` (float): {line}\n" in prompt.messages[0].text
    constraint = next(one for one in prompt.messages[0].segments if one.kind == "constraint")
    assert constraint.field == "a" and constraint.text.lower() == "greater than or equal to: 0"
