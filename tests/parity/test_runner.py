"""The runner makes the calls that dspy's adapters make, and its runs end with their values or their error."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from oracle import calls
from oracle.engines import NAMES, ScriptedLM, comparable_params, ours, theirs
from oracle.outcomes import difference, outcome, plain
from oracle.tally import Record, Tally

from adapters.lm.protocol import Chunk, ToolCallPart
from adapters.requests.capabilities import Capabilities
from adapters.running.runner import Run, run

BLOCKS = [*range(1), *(pytest.param(block, marks=pytest.mark.slow) for block in range(1, 12))]
SEEDS = 50


class StreamedLM:
    """The scripted answers as a stream of small chunks."""

    def __init__(self, outputs: Sequence[Sequence[Any]], lm: Mapping[str, Any]) -> None:
        self.model = str(lm["model"])
        self.capabilities = Capabilities(lm["fc"], lm["reasoning"], lm["schema"], frozenset(lm["params"]))
        self.outputs = [list(one) for one in outputs]
        self.requests: list[dict[str, Any]] = []

    def stream(self, request: Mapping[str, Any], cancel: Any = None) -> Iterator[Chunk]:
        params = {key: value for key, value in request.items() if key not in ("model", "messages")}
        self.requests.append({"messages": plain(request["messages"]), "kwargs": comparable_params(params)})
        for choice, output in enumerate(self.outputs.pop(0)):
            yield from _chunks(output if isinstance(output, dict) else {"text": output}, choice)


def _chunks(output: Mapping[str, Any], choice: int) -> Iterator[Chunk]:
    text = output["text"] or ""
    for start in range(0, len(text), 7):
        yield Chunk(text=text[start : start + 7], choice=choice)
    yield Chunk(reasoning=output.get("reasoning_content") or "", logprobs=output.get("logprobs"), choice=choice)
    for index, one in enumerate(output.get("tool_calls") or ()):
        function = one["function"]
        part = ToolCallPart(index=index, id=one["id"], name=function["name"], arguments=function["arguments"])
        yield Chunk(tool_calls=(part,), choice=choice)


def as_provider_gives(outputs: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The script in the shapes that dspy's LM makes of a provider's reply: strings unless there is more than text."""
    made = []
    for group in outputs:
        whole = [_as_output(one if isinstance(one, dict) else {"text": one}) for one in group]
        made.append([one["text"] for one in whole] if all(len(one) == 1 for one in whole) else whole)
    return made


def _as_output(output: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"text": output["text"] or ""}
    if output.get("reasoning_content"):
        made["reasoning_content"] = output["reasoning_content"]
    if output.get("logprobs") is not None:
        made["logprobs"] = output["logprobs"]
    called = [
        {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": arguments}}
        for arguments in (one.get("function", one)["arguments"] for one in output.get("tool_calls") or ())
        if isinstance(arguments, str) and arguments
    ]
    if called:
        made["tool_calls"] = called
    return made


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("block", BLOCKS)
def test_runs_are_dspys_calls(block: int, name: str, record: Record) -> None:
    tally = Tally("runs")
    for seed in range(block * SEEDS, (block + 1) * SEEDS):
        one = calls.call(random.Random(f"run {seed} {name}"), name)
        lm = {**one.lm, "model_type": "chat"}
        outputs = as_provider_gives(one.outputs)
        scripted, streamed = ScriptedLM(outputs, **lm), StreamedLM(outputs, lm)
        options = {key: value for key, value in one.options.items() if key != "use_json_adapter_fallback"}
        left = outcome(
            lambda: theirs(name, options, scripted)(  # noqa: B023
                scripted,  # noqa: B023
                dict(one.lm_kwargs),  # noqa: B023
                one.built.theirs,  # noqa: B023
                list(one.demos),  # noqa: B023
                dict(one.inputs),  # noqa: B023
            )
        )
        if type(left.error).__name__ == "ScriptExhaustedError":
            continue
        made = run(
            ours(name, options), streamed, one.built.ours, one.demos, one.inputs, fallback=True, params=one.lm_kwargs
        )
        sent = difference(_requests(scripted.calls), _requests(streamed.requests), at="sent")
        tally.add(f"{seed} {name}", sent or _ended(left, made))
    tally.report(record)


def _requests(sent: Sequence[Mapping[str, Any]]) -> list[Any]:
    return [(one["messages"], dict(sorted(one["kwargs"].items()))) for one in sent]


def _ended(left: Any, made: Run) -> str | None:
    if left.error is None:
        if not made.ok:
            return f"values against {made.error}"
        return difference(left.value, [dict(values) for values in made.all_values])
    if made.ok:
        return f"{type(left.error).__name__}: {str(left.error)[:120]} against values {made.values}"
    failed = [one for one in made.attempts if made.error is not None and one.number == made.error.attempt]
    readings = [one.reading for attempt in failed for one in attempt.completions]
    errors = [reading.error for reading in readings if reading is not None and reading.error is not None]
    if errors and errors[0].type != type(left.error).__name__:
        return f"{type(left.error).__name__} against {errors[0].type}"
    return None
