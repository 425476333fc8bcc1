"""Call an LM as dspy's adapters do, with a dict of parameters (`Adapter.__call__`, `acall`).

The workbench itself calls models through `adapters.running.runner`, which reports every step.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from adapters.errors import AdapterParseError
from adapters.prompts.text import Demos, Values
from adapters.requests.capabilities import Capabilities
from adapters.requests.request import Outcome, Request, first_failure, postprocess, prepare
from adapters.signatures.signature import Signature

if TYPE_CHECKING:
    from adapters.requests.calls import RequestedAdapter


OF_THE_LM = ("cache", "rollout_id")
"""Parameters of dspy's cache, passed to models apart from the Request, and not to engines."""
COUNTS = ("n", "num_generations")

Asked = tuple[Signature, Demos, Values]
"""A signature with demos and inputs."""


def ask(lm: Any, messages: Sequence[Mapping[str, object]], params: Mapping[str, object]) -> list[object]:
    """Call the model; return each output as text or as dspy's dict (`text`, `tool_calls`, …).

    Raises TypeError for a model that is only asynchronous, and for a model that requires Requests if no dspy with
    Requests is imported.
    """
    if not takes_requests(lm):
        return lm(messages=messages, **params)  # type: ignore[no-any-return]
    complete = None if callable(lm) else lm.complete
    if complete is not None and inspect.iscoroutinefunction(complete):
        raise TypeError(f"{type(lm).__name__} is only asynchronous: call the adapter's `acall`")
    request, beside, count = _lm_request(lm, messages, params)
    return [output_of(complete(request) if complete else lm(request, **beside)) for _ in range(count)]


async def ask_async(lm: Any, messages: Sequence[Mapping[str, object]], params: Mapping[str, object]) -> list[object]:
    """Call the model through `lm.acall` or an engine's `complete`, in a thread if that is synchronous."""
    if not takes_requests(lm):
        return await lm.acall(messages=messages, **params)  # type: ignore[no-any-return]
    complete = None if callable(lm) else lm.complete
    request, beside, count = _lm_request(lm, messages, params)
    outputs: list[object] = []
    for _ in range(count):
        if complete is None:
            response = await lm.acall(request, **beside)
        elif inspect.iscoroutinefunction(complete):
            response = await complete(request)
        else:
            from asyncio import to_thread  # only needed here

            response = await to_thread(complete, request)
        outputs.append(output_of(response))
    return outputs


def takes_requests(lm: Any) -> bool:
    """Test whether a model is called with a Request instead of `messages`.

    True for models without `forward` that are engines or dspy's own, or that do not accept `messages`.
    """
    if hasattr(lm, "forward"):
        return False
    if hasattr(lm, "complete") or any(kind.__module__.partition(".")[0] == "dspy" for kind in type(lm).__mro__):
        return True
    try:
        inspect.signature(lm).bind(messages=[])
    except TypeError:
        return True
    except ValueError:  # a callable without a signature
        return False
    return False


def output_of(response: Any) -> object:
    """Convert a Response for `parse` and `postprocess`. Rule: `dspy.clients.call_result.legacy_output`."""
    parts = response.message.parts
    texts = [
        part.text if part.type == "text" else json.dumps(part.value, ensure_ascii=False)
        for part in parts
        if part.type in ("text", "data")
    ]
    output: dict[str, object] = {"text": "".join(texts) if texts else None}
    thinking = "".join([part.text for part in parts if part.type == "thinking"])
    if thinking:
        output["reasoning_content"] = thinking
    calls = [
        {"id": part.id, "type": "function", "function": {"name": part.name, "arguments": json.dumps(part.input)}}
        for part in parts
        if part.type == "tool_call"
    ]
    if calls:
        output["tool_calls"] = calls
    citations = [
        {name: told for name in ("text", "title", "url") if (told := getattr(part, name)) is not None}
        for part in parts
        if part.type == "citation"
    ]
    if citations:
        output["citations"] = citations
    logprobs = getattr(response, "logprobs", None)
    if logprobs:
        output["logprobs"] = {
            "content": [{**_scored(token), "top_logprobs": [_scored(one) for one in token.top]} for token in logprobs]
        }
    return output if len(output) > 1 else output["text"]


def _lm_request(
    lm: object, messages: Sequence[Mapping[str, object]], params: Mapping[str, Any]
) -> tuple[object, dict[str, object], int]:
    """Return the `dspy.lm15.Request`, other arguments, and the number of calls (a Response for each)."""
    module = sys.modules.get("dspy.lm15")
    if module is None:
        raise TypeError(
            f"{type(lm).__name__} takes a dspy.lm15.Request, but no dspy with that class is imported: "
            "`import dspy.lm15` first, or give a model that is called with `messages`"
        )
    beside = {name: params[name] for name in OF_THE_LM if name in params}
    sent = {name: value for name, value in params.items() if name not in (*OF_THE_LM, *COUNTS) and value is not None}
    # A Request requires a model name, and an engine has none.
    model = getattr(lm, "model", None) or type(lm).__name__
    request = module.request_from_openai_chat({"model": model, "messages": list(messages), **sent})
    return request, beside, next((params[name] for name in COUNTS if params.get(name) is not None), 1)


def _scored(token: Any) -> dict[str, object]:
    return {"token": token.token, "logprob": token.logprob, "bytes": None if token.bytes is None else list(token.bytes)}


def call(adapter: RequestedAdapter, lm: object, lm_kwargs: dict[str, object], asked: Asked) -> list[dict[str, object]]:
    """Prepare a request, call `lm` and parse every completion, with the adapter's fallback after a parse error.

    Raises what parsing raises. Changes `lm_kwargs` in place, as dspy does.
    """
    try:
        request = _request(adapter, lm, lm_kwargs, asked)
        outputs = ask(lm, request.prompt.as_dicts(), lm_kwargs)
        return _values(adapter, request, asked[0], outputs)
    except AdapterParseError:
        fallback = adapter.fallback_adapter()
        if fallback is None:
            raise
        return call(fallback, lm, lm_kwargs, asked)


async def acall(
    adapter: RequestedAdapter, lm: object, lm_kwargs: dict[str, object], asked: Asked
) -> list[dict[str, object]]:
    """Call like `call`, through `lm.acall`."""
    try:
        request = _request(adapter, lm, lm_kwargs, asked)
        outputs = await ask_async(lm, request.prompt.as_dicts(), lm_kwargs)
        return _values(adapter, request, asked[0], outputs)
    except AdapterParseError:
        fallback = adapter.fallback_adapter()
        if fallback is None:
            raise
        return await acall(fallback, lm, lm_kwargs, asked)


def _request(adapter: RequestedAdapter, lm: object, lm_kwargs: dict[str, object], asked: Asked) -> Request:
    capabilities = Capabilities(
        bool(getattr(lm, "supports_function_calling", False)),
        bool(getattr(lm, "supports_reasoning", False)),
        bool(getattr(lm, "supports_response_schema", False)),
        frozenset(getattr(lm, "supported_params", ()) or ()),
    )
    request = prepare(
        adapter,
        *asked,
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
) -> list[dict[str, object]]:
    outcomes: list[Outcome] = []
    for output in outputs:
        outcomes.append(postprocess(adapter, request, signature, output, adapter.read_with_calls))
        if not outcomes[-1].reading.ok and not outcomes[-1].is_undecided:
            break
    failed = first_failure(outcomes)
    if failed is not None and failed.exception is not None:
        raise failed.exception
    return [dict(one.values) for one in outcomes]
