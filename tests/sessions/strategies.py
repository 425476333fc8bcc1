"""Any session that can be built, for Hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from sessions.model.replies import (
    Extraction,
    Measured,
    RecordedAttempt,
    RecordedCompletion,
    RecordedReading,
    Reply,
)
from sessions.model.session import SCHEMA, Case, Column, Demo, Recording, Session, SignatureText, Tool, Variant

TAGS = ["$lines", "$text", "$float", "$int", "$dict", "$ref"]
pieces = st.one_of(
    st.text(max_size=12),
    st.text(alphabet=st.characters(), max_size=6),
    st.integers(390, 900).map(lambda size: ("A long line. " * size)[:size]),
    st.just("data:image/png;base64," + "iVBORw0K" * 60),
    st.sampled_from(
        ["\ud83d\ude00", "\ud800", "\x1b[31m", "\u2028", "\u202e", "a\nb", "a\r\nb", "\n", "", "0x1f", "NaN"]
    ),
)
texts = st.lists(pieces, max_size=4).map("".join)
keys = st.one_of(texts, st.sampled_from(TAGS))
numbers = st.one_of(
    st.integers(),
    st.sampled_from([10**700, 2**2048, -(2**2048) + 1, -0.0, 1.0, 1]),
    st.floats(),
)
values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(keys, inner, max_size=4)),
    max_leaves=12,
)
objects = st.dictionaries(keys, values, max_size=4)
ids = st.text(max_size=8)
extras = st.dictionaries(st.sampled_from(["later", "$later", "x y"]), values, max_size=2)
params = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.floats(),
        "seed": st.integers(),
        "stop": st.one_of(texts.filter(lambda text: "-" not in text), st.none()),
        "logprobs": st.booleans(),
    },
)
signature_texts = st.builds(
    SignatureText,
    text=texts,
    class_name=st.none() | texts,
    predictor=st.sampled_from(["Predict", "ChainOfThought"]),
    instructions=st.none() | texts,
    extra=extras,
)
columns = st.builds(
    Column, id=ids, adapter=texts, options=st.just({}) | extras, model=st.none() | ids, params=params, extra=extras
)
demos = st.builds(Demo, values=objects, enabled=st.booleans(), extra=extras)
readings = st.builds(RecordedReading, ok=st.booleans(), values=objects, extra=extras)
native = {
    "reasoning": st.none() | texts,
    "tool_calls": st.none() | st.lists(objects, max_size=2).map(tuple),
    "finish_reason": st.none() | texts,
    "logprobs": values,
    "extraction": st.none() | st.builds(Extraction, adapter=texts, text=texts),
}
completions = st.builds(RecordedCompletion, text=texts, reading=st.none() | readings, **native, extra=extras)
attempts = st.builds(
    RecordedAttempt,
    adapter=texts,
    role=st.sampled_from([None, "main", "fallback"]),
    completions=st.lists(completions, max_size=2).map(tuple),
    error=st.none() | texts,
)
recordings = st.builds(
    Recording,
    messages=st.lists(objects, max_size=2).map(tuple),
    request=st.just({"model": "m"}),
    attempts=st.lists(attempts, max_size=2).map(tuple),
    versions=st.dictionaries(ids, texts, max_size=2),
    source=st.sampled_from(["sent", "edited", "pasted"]),
    capabilities=extras,
    extra=extras,
)
replies = st.builds(
    Reply,
    text=texts,
    source=st.sampled_from(["sent", "edited", "pasted"]),
    model=st.none() | texts,
    raw=st.booleans(),
    rating=st.sampled_from([None, "good", "bad"]),
    note=st.none() | texts,
    **native,
    extra=extras,
)
finite = st.floats(allow_nan=False, allow_infinity=False)  # others are no numbers to the format, and kept as `extra`
measured = st.builds(
    Measured, usage=st.none() | objects, cost=st.none() | finite, duration_ms=st.none() | finite, extra=extras
)
switches = st.fixed_dictionaries({"enabled": st.booleans(), "values": objects})
cases = st.builds(
    Case,
    name=texts,
    inputs=objects,
    history=st.tuples(objects | switches, objects),
    turns_off=st.frozensets(st.sampled_from([0, 1])),
    expect=objects,
    recordings=st.dictionaries(ids, recordings, max_size=2),
    replies=st.dictionaries(ids, replies, max_size=2),
    measured=st.dictionaries(ids, st.lists(measured, max_size=1).map(tuple), max_size=1),
    extra=extras,
)
tools = st.builds(
    Tool,
    name=ids,
    description=texts,
    parameters=objects,
    results=st.lists(objects, max_size=1).map(tuple),
    extra=extras,
)
variants = st.builds(Variant, tag=ids, of=st.just("instructions"), text=texts, original=ids, extra=extras)
sessions = st.builds(
    Session,
    signature=signature_texts,
    demos=st.lists(demos, max_size=2).map(tuple),
    columns=st.lists(columns, max_size=2, unique_by=lambda one: one.id).map(tuple),
    cases=st.lists(cases, max_size=2, unique_by=lambda one: one.name).map(tuple),
    model=st.sampled_from(["offline/exact", "openai/gpt-6-luna"]),
    params=params,
    fallback=st.booleans(),
    name=texts,
    notes=texts,
    tools=st.lists(tools, max_size=2, unique_by=lambda one: one.name).map(tuple),
    variants=st.lists(variants, max_size=1).map(tuple),
    schema=st.just(SCHEMA) | ids,
    extra=extras,
)
