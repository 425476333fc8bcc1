"""Signatures changed step by step under both engines stay the same signature."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import dspy
import pytest
from oracle import signatures
from oracle import vocabulary as words
from oracle.outcomes import Outcome, divergence, outcome
from oracle.specs import Built
from oracle.tally import Record, Tally

from adapters.signatures.signature import InputField, OutputField, Signature

STEPS = 4
PYDANTICS_OWN = ("SchemaError", "PydanticUserError", "PydanticSchemaGenerationError", "TypeError")
Step = tuple[str, Callable[[Any], Any], Callable[[Signature], Signature]]


def account(signature: Any) -> Mapping[str, Any]:
    """What prompts are made of, read from dspy's class."""
    return {
        "instructions": signature.instructions,
        "signature": signature.signature,
        "fields": [
            (name, repr(one.annotation), one.json_schema_extra["desc"], one.json_schema_extra["prefix"])
            for name, one in signature.fields.items()
        ],
        "inputs": list(signature.input_fields),
        "outputs": list(signature.output_fields),
        "constraints": [one.json_schema_extra.get("constraints") for one in signature.fields.values()],
    }


def our_account(signature: Signature) -> Mapping[str, Any]:
    """The same of ours."""
    return {
        "instructions": signature.instructions,
        "signature": signature.signature,
        "fields": [
            (name, repr(one.annotation), one.desc if one.desc is not None else f"${{{name}}}", one.shown_prefix)
            for name, one in signature.fields.items()
        ],
        "inputs": list(signature.input_fields),
        "outputs": list(signature.output_fields),
        "constraints": [one.constraints for one in signature.fields.values()],
    }


def step(rng: random.Random, built: Built) -> Step:
    """One change, as dspy's method and as ours."""
    present = rng.choice([*built.theirs.fields, "absent"])
    name = rng.choice(("added", "answer", "question", "reasoning"))
    role = rng.choice(("input", "output"))
    arguments = rng.choice(({}, {"desc": "added"}, {"ge": 1}, {"description": "d", "max_length": 3}))
    theirs_field = (dspy.InputField if role == "input" else dspy.OutputField)(**arguments)
    ours_field = (InputField if role == "input" else OutputField)(**arguments)
    annotation = rng.choice((str, int, None, list[str], words.Address))
    index = rng.choice((0, 1, -1, -2, 9))
    text = rng.choice([one for one in words.INSTRUCTIONS if one is not None])
    return rng.choice(
        (
            ("with_instructions", lambda it: it.with_instructions(text), lambda it: it.with_instructions(text)),
            ("append_instructions", lambda it: it.append_instructions(text), lambda it: it.append_instructions(text)),
            ("delete", lambda it: it.delete(present), lambda it: it.delete(present)),
            (
                "prepend",
                lambda it: it.prepend(name, theirs_field, annotation),
                lambda it: it.prepend(name, ours_field, annotation),
            ),
            (
                "append",
                lambda it: it.append(name, theirs_field, annotation),
                lambda it: it.append(name, ours_field, annotation),
            ),
            (
                "insert",
                lambda it: it.insert(index, name, theirs_field, annotation),
                lambda it: it.insert(index, name, ours_field, annotation),
            ),
            (
                "with_updated_fields",
                lambda it: it.with_updated_fields(present, annotation, desc="new"),
                lambda it: it.with_updated_fields(present, annotation, desc="new"),
            ),
        )
    )


@pytest.mark.parametrize("block", range(4))
def test_changed_signatures_stay_the_same(block: int, record: Record) -> None:
    tally = Tally("changed signatures")
    for seed in range(block * 100, (block + 1) * 100):
        rng = random.Random(f"signature {seed}")
        built = signatures.signature(rng)
        theirs, ours = built.theirs, built.ours
        tally.add(f"{seed}", divergence(Outcome(account(theirs)), Outcome(our_account(ours))))
        for _ in range(STEPS):
            name, change_theirs, change_ours = step(rng, built)
            left = outcome(lambda: change_theirs(theirs))  # noqa: B023
            right = outcome(lambda: change_ours(ours))  # noqa: B023
            if type(left.error).__name__ in PYDANTICS_OWN:
                break  # dspy builds a class at every step, so pydantic has a say; ours is data
            if left.error is not None or right.error is not None:
                same = type(left.error) is type(right.error)
                tally.add(f"{seed} {name}", None if same else f"{left.error!r} against {right.error!r}")
                break
            theirs, ours = left.value, right.value
            found = divergence(Outcome(account(theirs)), Outcome(our_account(ours)))
            tally.add(f"{seed} {name}", found)
            if found:
                break
    tally.report(record)


def test_chain_of_thought_adds_dspys_field(record: Record) -> None:
    tally = Tally("chains of thought")
    for seed in range(100):
        built = signatures.signature(random.Random(f"thought {seed}"))
        left = outcome(lambda: account(dspy.ChainOfThought(built.theirs).predict.signature))  # noqa: B023
        right = outcome(lambda: our_account(built.ours.chain_of_thought()))  # noqa: B023
        tally.add(str(seed), divergence(left, right))
    tally.report(record)
