"""Every reading accounts for every character of its reply and for every step of its values."""

from __future__ import annotations

import random
from typing import Any

import pytest
from oracle import replies, signatures
from oracle.engines import NAMES
from oracle.outcomes import difference, outcome
from oracle.traces import reading_faults

from adapters import Field, Signature
from adapters.formats import catalog
from adapters.formats.catalog import make
from adapters.formats.two_step import TwoStepAdapter

ALL = catalog.NAMES
SIGNATURES, REPLIES = 25, 10
BLOCKS = [0, *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, 80))]


def cases(block: int, name: str) -> list[tuple[str, Any, str]]:
    made: list[tuple[str, Any, str]] = []
    for seed in range(block * SIGNATURES, (block + 1) * SIGNATURES):
        rng = random.Random(f"trace {seed} {name}")
        built = signatures.signature(rng)
        style = name if name in NAMES else "chat"
        made.extend((f"{seed}.{number}", built.ours, replies.reply(rng, style, built)) for number in range(REPLIES))
    return made


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("block", BLOCKS)
def test_spans_partition_the_reply_and_steps_replay_to_the_value(block: int, name: str) -> None:
    adapter = make(name)
    faults: list[str] = []
    for case, signature, completion in cases(block, name):
        reading = adapter.read(signature, completion)
        faults.extend(f"{case}: {fault}\n    {completion!r}"[:700] for fault in reading_faults(reading))
    assert not faults, f"{len(faults)} faults\n" + "\n".join(faults[:10])


@pytest.mark.parametrize("name", [name for name in ALL if name != "twostep"])
def test_parse_is_a_view_of_read(name: str) -> None:
    adapter = make(name)
    for case, signature, completion in cases(0, name):
        reading = adapter.read(signature, completion)
        parsed = outcome(lambda: adapter.parse(signature, completion))  # noqa: B023
        if reading.error is None:
            assert parsed.error is None, case
            assert difference(dict(reading.values), parsed.value) is None, case
        else:
            assert type(parsed.error).__name__ == reading.error.type, case


def test_twostep_accounts_for_both_replies() -> None:
    adapter = TwoStepAdapter()
    faults: list[str] = []
    for case, signature, completion in cases(1, "twostep"):
        reading = adapter.read(signature, "The model's prose.", extraction=completion)
        faults.extend(f"{case}: {fault}" for fault in reading_faults(reading))
        assert [span.kind for span in reading.spans] == ["prose"]
        assert reading.extraction is not None
        assert reading.extraction.completion == completion
    assert not faults, "\n".join(faults[:10])


def test_twostep_without_an_extraction_says_that_it_needs_one() -> None:
    adapter = TwoStepAdapter()
    for _, signature, completion in cases(2, "twostep")[:50]:
        if not completion:
            continue
        reading = adapter.read(signature, completion)
        assert reading.error is not None
        assert "needs extraction" in reading.error.message
        assert [span.kind for span in reading.spans] == ["prose"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_flags_near_misses_and_salvage_never_raise(name: str) -> None:
    adapter = make(name)
    for _, signature, completion in cases(3, name):
        reading = adapter.read(signature, completion)
        for flag in reading.flags:
            assert flag.message
            assert flag.field is None or flag.field in signature.output_fields
        for miss in reading.near_misses:
            assert miss.message
            assert miss.reading.completion == miss.mended
        assert reading.ok is (reading.error is None)
        assert not (reading.ok and reading.salvage)


def test_a_fields_account_is_written_without_the_reply_that_its_reading_has() -> None:
    reading = make("chat").read(signatures.built({"v": str}).ours, "[[ ## v ## ]]\n" + "a line\n" * 9)
    field = reading.fields["v"]
    assert field.completion == reading.completion
    assert repr(field).startswith("FieldReading(name='v', state='read', place=(14, 76), value='a line")
    assert repr(reading).count(repr(reading.completion)) == 1


@pytest.mark.parametrize("name", ALL)
def test_a_signature_without_outputs_is_read_by_every_adapter(name: str) -> None:
    signature = Signature.make((Field("question", "input"),))
    assert make(name).read(signature, '{"a": 1}').fields == {}
