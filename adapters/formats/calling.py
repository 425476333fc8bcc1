"""An adapter called as dspy calls one: with an LM object and a dict of parameters (`Adapter.__call__`, `acall`).

Everything of ours calls models through `adapters.running.runner` instead, which hides nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adapters.errors import AdapterParseError
from adapters.formats import asking
from adapters.requests.capabilities import Capabilities
from adapters.requests.request import Outcome, Request, first_failure, postprocess, prepare
from adapters.signatures.signature import Signature

if TYPE_CHECKING:
    from adapters.requests.adapter_protocol import RequestedAdapter


def call(
    adapter: RequestedAdapter,
    lm: Any,
    lm_kwargs: dict[str, Any],
    signature: Signature,
    demos: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """Prepares, asks `lm` in the way that it takes, reads every completion; falls back as the adapter says.

    Raises what parsing raises. `lm_kwargs` is changed in place, as dspy does.
    """
    try:
        request = _request(adapter, lm, lm_kwargs, signature, demos, inputs)
        outputs = asking.ask(lm, request.prompt.as_dicts(), lm_kwargs)
        return _values(adapter, request, signature, outputs)
    except AdapterParseError:
        fallback = adapter.fallback_adapter()
        if fallback is None:
            raise
        return call(fallback, lm, lm_kwargs, signature, demos, inputs)


async def acall(
    adapter: RequestedAdapter,
    lm: Any,
    lm_kwargs: dict[str, Any],
    signature: Signature,
    demos: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """As `call`, through `lm.acall`."""
    try:
        request = _request(adapter, lm, lm_kwargs, signature, demos, inputs)
        outputs = await asking.ask_async(lm, request.prompt.as_dicts(), lm_kwargs)
        return _values(adapter, request, signature, outputs)
    except AdapterParseError:
        fallback = adapter.fallback_adapter()
        if fallback is None:
            raise
        return await acall(fallback, lm, lm_kwargs, signature, demos, inputs)


def _request(
    adapter: RequestedAdapter,
    lm: Any,
    lm_kwargs: dict[str, Any],
    signature: Signature,
    demos: Sequence[Mapping[str, Any]],
    inputs: Mapping[str, Any],
) -> Request:
    capabilities = Capabilities(
        bool(getattr(lm, "supports_function_calling", False)),
        bool(getattr(lm, "supports_reasoning", False)),
        bool(getattr(lm, "supports_response_schema", False)),
        frozenset(getattr(lm, "supported_params", ()) or ()),
    )
    request = prepare(
        adapter,
        signature,
        demos,
        inputs,
        capabilities,
        model=getattr(lm, "model", None),
        params=lm_kwargs,
        model_params=getattr(lm, "kwargs", {}),
        model_type=getattr(lm, "model_type", "chat"),
    )
    lm_kwargs.clear()
    lm_kwargs.update(request.params)
    return request


def _values(
    adapter: RequestedAdapter, request: Request, signature: Signature, outputs: Sequence[Any]
) -> list[dict[str, Any]]:
    outcomes: list[Outcome] = []
    for output in outputs:
        outcomes.append(postprocess(adapter, request, signature, output, adapter.read_with_calls))
        if not outcomes[-1].reading.ok and not outcomes[-1].is_undecided:
            break
    failed = first_failure(outcomes)
    if failed is not None and failed.exception is not None:
        raise failed.exception
    return [dict(one.values) for one in outcomes]
