"""The stored cases: dspy 3.4.1, live, and our engine agree on every one of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from oracle import compare
from oracle.corpus import cases, document
from oracle.engines import NAMES, ours, theirs
from oracle.outcomes import divergence, outcome, plain
from oracle.specs import add_models, build, build_with_own_types, dspy_namespace, evaluate
from oracle.tagged import decode
from oracle.tally import Record, Tally

LARGE = ("large", "deep")


def rendered(case: Mapping[str, Any], namespace: Mapping[str, Any], signature: Any) -> tuple[list[Any], dict[str, Any]]:
    """A format case's demos and inputs, its history placed in the History input."""
    demos = [decode(demo, namespace) for demo in case["demos"]]
    inputs = decode(case["inputs"], namespace)
    if case.get("history"):
        field = next(name for name, one in signature.input_fields.items() if one.annotation is namespace["History"])
        inputs[field] = namespace["History"](messages=decode(case["history"], namespace))
    return demos, inputs


FORMAT = [case for case in cases("format_cases") if "signature_error" not in case["expected"]]


@pytest.mark.parametrize("name", NAMES)
def test_messages_are_dspys_byte_for_byte(name: str, record: Record) -> None:
    tally = Tally(f"stored prompts, {name}")
    for case in FORMAT:
        built = build(case["signature"])
        demos, inputs = rendered(case, built.namespace, built.theirs)
        tally.add(case["id"], compare.formatting(name, built, demos, inputs, case["adapter_options"].get(name)))
    tally.report(record)


@pytest.mark.parametrize("name", NAMES)
def test_messages_with_our_own_types_are_dspys(name: str, record: Record) -> None:
    tally = Tally(f"stored prompts with our own types, {name}")
    for case in FORMAT:
        expected, built = build(case["signature"]), build_with_own_types(case["signature"])
        demos, inputs = rendered(case, built.namespace, built.theirs)
        their_demos, their_inputs = rendered(case, expected.namespace, expected.theirs)
        left = outcome(lambda: theirs(name).format(expected.theirs, their_demos, their_inputs))  # noqa: B023
        right = outcome(lambda: plain(ours(name).format(built.ours, demos, inputs)))  # noqa: B023
        tally.add(case["id"], divergence(left, right))
    tally.report(record)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "twostep"])
def test_requests_with_native_features_are_dspys(name: str, record: Record) -> None:
    tally = Tally(f"stored native requests, {name}")
    for case in FORMAT:
        built = build(case["signature"])
        demos, inputs = rendered(case, built.namespace, built.theirs)
        lm = (case.get("native") or {}).get("lm", {})
        options = {"use_native_function_calling": True} if lm.get("fc") and name != "xml" else None
        tally.add(case["id"], compare.requesting(name, built, demos, inputs, options, lm))
    tally.report(record)


PARSE = [case for case in cases("parse_cases") if case["adapter"] != "twostep"]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "twostep"])
def test_replies_are_read_as_dspy_reads_them(name: str, record: Record) -> None:
    tally = Tally(f"stored replies, {name}")
    for case in PARSE:
        if case["adapter"] == name and not set(case["tags"]) & set(LARGE):
            built = build(case["signature"])
            tally.add(case["id"], compare.parsing(name, built, decode(case["completion"], built.namespace)))
    tally.report(record)


OURS = ("Image", "Audio", "File", "Code", "Tool", "Reasoning", "Citations", "Document", "History")


@pytest.mark.parametrize("name", [name for name in NAMES if name != "twostep"])
def test_replies_for_our_own_types_are_read_as_dspys(name: str, record: Record) -> None:
    tally = Tally(f"stored replies for our own types, {name}")
    for case in PARSE:
        types = " ".join(field["type"] for field in case["signature"]["fields"])
        if case["adapter"] == name and any(one in types for one in OURS):
            expected, built = build(case["signature"]), build_with_own_types(case["signature"])
            completion = decode(case["completion"], built.namespace)
            left = outcome(lambda: theirs(name).parse(expected.theirs, completion))  # noqa: B023
            right = outcome(lambda: ours(name).parse(built.ours, completion))  # noqa: B023
            if type(left.error).__name__ == "AdapterParseError" == type(right.error).__name__:
                tally.add(case["id"], None)  # our types say in other words what they refuse
            else:
                tally.add(case["id"], divergence(left, right, same_types=False))
    if name != "baml":
        tally.report(record)


SECONDS_OF_DSPY = "chat-deep-chat-any-parens-100k"


@pytest.mark.parametrize("wait", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["soon read", "seconds"])
def test_large_and_deep_replies_are_read_as_dspy_reads_them(record: Record, wait: bool) -> None:
    tally = Tally("stored large and deep replies", LIMITED)
    for case in PARSE:
        if set(case["tags"]) & set(LARGE) and (case["id"] == SECONDS_OF_DSPY) == wait:
            built = build(case["signature"])
            tally.add(case["id"], compare.parsing(case["adapter"], built, decode(case["completion"], built.namespace)))
    tally.report(record)


LIMITED = {
    "chat-deep-chat-any-parens-100k": "past 2,000,000 looks nothing is repaired; dspy refuses it after 4 s",
    "json-open-braces": "past 2,000,000 looks nothing is repaired; dspy refuses it too, in other words",
}
"""Replies past a stated limit of ours, with that limit."""


@pytest.mark.parametrize("name", ["chat", "json", "xml"])
def test_mutated_replies_are_read_as_dspy_reads_them(name: str, record: Record) -> None:
    tally = Tally(f"stored mutated replies, {name}")
    signatures = document("fuzz_signatures")
    for case in cases("fuzz_cases"):
        if case["adapter"] == name:
            built = build(signatures[case["signature_ref"]])
            tally.add(case["id"], compare.parsing(name, built, decode(case["completion"], built.namespace)))
    tally.report(record)


def test_every_value_is_coerced_as_dspy_does(record: Record) -> None:
    tally = Tally("stored values")
    namespace = dspy_namespace()
    add_models(document("value_models"), namespace)
    types = {text: evaluate(text, namespace) for text in {case["type"] for case in cases("value_cases")}}
    for case in cases("value_cases"):
        tally.add(case["id"], compare.coercing(types[case["type"]], decode(case["raw"], namespace)))
    tally.report(record)


@pytest.mark.parametrize("name", ["chat", "json", "xml", "twostep"])
def test_whole_calls_send_and_return_what_dspys_do(name: str, record: Record) -> None:
    tally = Tally(f"stored whole calls, {name}")
    for case in cases("call_cases"):
        if case["adapter"] == name:
            built = build(case["signature"])
            inputs = decode(case["inputs"], built.namespace)
            demos = [decode(demo, built.namespace) for demo in case["demos"]]
            outputs = decode(case["outputs"], built.namespace)
            tally.add(
                case["id"],
                compare.calling(
                    name, built, demos, inputs, outputs, case["adapter_options"], case["lm"], case["lm_kwargs"]
                ),
            )
    for case in cases("parse_cases"):
        if case["adapter"] == name == "twostep":
            built = build(case["signature"])
            outputs = [[case["completion"]], *decode(case["extraction_outputs"], built.namespace)]
            tally.add(case["id"], compare.calling(name, built, [], {"q": "x"}, outputs))
    tally.report(record)


def test_demos_read_back_as_dspy_reads_them(record: Record) -> None:
    tally = Tally("stored round trips")
    formats = {case["id"]: case for case in FORMAT}
    for case in cases("roundtrip_cases"):
        if case["format_case"] not in formats:
            continue
        built = build(formats[case["format_case"]]["signature"])
        outputs = decode(case["outputs"], built.namespace)
        name = case["adapter"]

        def there_and_back(adapter: Any, signature: Any) -> Any:
            text = str(adapter.format_assistant_message_content(signature, outputs))  # noqa: B023
            return text, adapter.parse(signature, text)

        left = outcome(lambda: there_and_back(theirs(name), built.theirs))  # noqa: B023
        right = outcome(lambda: there_and_back(ours(name), built.ours))  # noqa: B023
        tally.add(case["id"], divergence(left, right))
    tally.report(record)


def test_every_teaching_moment_happens_here_too(record: Record) -> None:
    tally = Tally("teaching moments", LIMITED)
    for case in cases("teaching_moments"):
        built = build(case["signature"])
        if case["kind"] == "parse":
            found = compare.parsing(case["adapter"], built, decode(case["completion"], built.namespace))
        elif case["kind"] == "format":
            demos, inputs = rendered(case, built.namespace, built.theirs)
            found = compare.formatting(case["adapter"], built, demos, inputs)
        else:
            inputs = decode(case["inputs"], built.namespace)
            found = compare.calling(case["adapter"], built, [], inputs, case["script"], case["opts"], case["lm"])
        tally.add(case["id"], found)
    tally.report(record)
