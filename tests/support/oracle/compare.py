"""One case, asked of both engines: each function returns how ours departs from dspy's, or None."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from oracle.engines import ScriptedLM, comparable_params, ours, theirs
from oracle.outcomes import Outcome, difference, divergence, outcome, plain
from oracle.specs import Built


def formatting(
    name: str,
    built: Built,
    demos: Sequence[Any],
    inputs: Mapping[str, Any],
    options: Mapping[str, Any] | None = None,
    *,
    same_types: bool = True,
    expected: Built | None = None,
) -> str | None:
    """The messages of `format`, byte for byte. `expected` is what dspy is given when it is not the same."""
    reference = built if expected is None else expected
    left = outcome(lambda: plain(theirs(name, options).format(reference.theirs, list(demos), dict(inputs))))
    right = outcome(lambda: plain(ours(name, options).format(built.ours, list(demos), dict(inputs))))
    return divergence(left, right, same_types=same_types)


def parsing(name: str, built: Built, completion: str, options: Mapping[str, Any] | None = None) -> str | None:
    """The values of `parse`, by type and in order, or its error."""
    left = outcome(lambda: theirs(name, options).parse(built.theirs, completion))
    right = outcome(lambda: ours(name, options).parse(built.ours, completion))
    return divergence(left, right)


def calling(
    name: str,
    built: Built,
    demos: Sequence[Any],
    inputs: Mapping[str, Any],
    outputs: Sequence[Sequence[Any]],
    options: Mapping[str, Any] | None = None,
    lm: Mapping[str, Any] | None = None,
    lm_kwargs: Mapping[str, Any] | None = None,
    our_lm: Mapping[str, Any] | None = None,
) -> str | None:
    """A whole call: what the model was sent, call by call, and what came back. TwoStep's models share the script.

    `our_lm` is what we know of the model, where that is not what dspy knows by construction.
    """
    model_for_them = ScriptedLM(outputs, **(lm or {}))
    model_for_us = ScriptedLM(outputs, **(lm if our_lm is None else our_lm) or {})
    left = outcome(
        lambda: theirs(name, options, model_for_them)(
            model_for_them, deepcopy(dict(lm_kwargs or {})), built.theirs, list(demos), dict(inputs)
        )
    )
    right = outcome(
        lambda: ours(name, options, model_for_us)(
            model_for_us, deepcopy(dict(lm_kwargs or {})), built.ours, list(demos), dict(inputs)
        )
    )
    sent = difference(model_for_them.calls, model_for_us.calls, at="sent")
    return sent or divergence(left, right)


def requesting(
    name: str,
    built: Built,
    demos: Sequence[Any],
    inputs: Mapping[str, Any],
    options: Mapping[str, Any] | None = None,
    lm: Mapping[str, Any] | None = None,
    lm_kwargs: Mapping[str, Any] | None = None,
) -> str | None:
    """The first request: ours prepared without a call, dspy's as its model received it."""
    from adapters.requests.request import Capabilities, prepare

    settings: dict[str, Any] = {
        "model": "scripted/model",
        "fc": False,
        "reasoning": False,
        "schema": False,
        "params": (),
        "model_type": "chat",
    }
    settings |= dict(lm or {})
    model = ScriptedLM((), **settings)
    received = outcome(
        lambda: theirs(name, options, model)(
            model, deepcopy(dict(lm_kwargs or {})), built.theirs, list(demos), dict(inputs)
        )
    )
    if model.calls:
        received = Outcome(value=(model.calls[0]["messages"], dict(sorted(model.calls[0]["kwargs"].items()))))
    capabilities = Capabilities(
        function_calling=settings["fc"],
        reasoning=settings["reasoning"],
        response_schema=settings["schema"],
        params=frozenset(settings["params"]),
    )

    def prepared() -> Any:
        request = prepare(
            ours(name, options),
            built.ours,
            list(demos),
            dict(inputs),
            capabilities,
            model=settings["model"],
            params=deepcopy(dict(lm_kwargs or {})),
            model_type=settings["model_type"],
        )
        messages = [plain(message.as_dict()) for message in request.messages]
        return messages, dict(sorted(comparable_params(request.params).items()))

    return divergence(received, outcome(prepared))


def coercing(annotation: Any, raw: Any) -> str | None:
    """dspy's `parse_value` and our one coercion function."""
    from dspy.adapters.utils import parse_value

    from adapters.values.coercion import coerce

    left = outcome(lambda: parse_value(deepcopy(raw), annotation))
    return divergence(left, outcome(lambda: coerce(deepcopy(raw), annotation)))
