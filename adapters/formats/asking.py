"""A model of dspy's asked for completions, in the way that it takes: messages up to dspy 3.4, a Request from 3.5 on.

Up to 3.4 a model is called with `messages=[{"role", "content"}, …]` and parameters, and gives a list of outputs. For
3.5 dspy announces (`dspy.clients.engines.base`, `dspy.clients._deprecation`) that it is called with a
`dspy.lm15.Request` and gives one `dspy.lm15.Response`, and that nothing has a `forward` any more. Nothing of dspy is
imported: whoever made such a model has.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

OF_THE_LM = ("cache", "rollout_id")
"""Parameters of dspy's own cache: a model takes them beside the Request, an engine has no use for them."""
COUNTS = ("n", "num_generations")


def ask(lm: Any, messages: Sequence[Mapping[str, Any]], params: Mapping[str, Any]) -> list[Any]:
    """The outputs of one call: a text each, or dspy's dict (`text`, `tool_calls`, …).

    Raises TypeError for a model that is only asynchronous, and for one that takes Requests where dspy has none.
    """
    if not takes_requests(lm):
        return lm(messages=messages, **params)  # type: ignore[no-any-return]
    complete = _completer(lm)
    if complete is not None and inspect.iscoroutinefunction(complete):
        raise TypeError(f"{type(lm).__name__} is only asynchronous: call the adapter's `acall`")
    request, beside, count = _request(lm, messages, params)
    return [output_of(complete(request) if complete else lm(request, **beside)) for _ in range(count)]


async def ask_async(lm: Any, messages: Sequence[Mapping[str, Any]], params: Mapping[str, Any]) -> list[Any]:
    """As `ask`, through `lm.acall`, or an engine's `complete`: one that is not asynchronous has a thread to itself."""
    if not takes_requests(lm):
        return await lm.acall(messages=messages, **params)  # type: ignore[no-any-return]
    complete = _completer(lm)
    request, beside, count = _request(lm, messages, params)
    outputs: list[Any] = []
    for _ in range(count):
        if complete is None:
            response = await lm.acall(request, **beside)
        elif inspect.iscoroutinefunction(complete):
            response = await complete(request)
        else:
            from asyncio import to_thread  # loaded by whoever awaits this, and nobody else needs it

            response = await to_thread(complete, request)
        outputs.append(output_of(response))
    return outputs


def takes_requests(lm: Any) -> bool:
    """Whether a model is called with a Request: no `forward`, and an engine, one of dspy's, or without `messages`."""
    if hasattr(lm, "forward"):
        return False
    if hasattr(lm, "complete") or any(kind.__module__.partition(".")[0] == "dspy" for kind in type(lm).__mro__):
        return True
    try:
        inspect.signature(lm).bind(messages=[])
    except TypeError:
        return True
    except ValueError:  # a callable that does not tell what it takes
        return False
    return False


def output_of(response: Any) -> Any:
    """A Response as the output that `parse` and `postprocess` take. Rule: `dspy.clients.call_result.legacy_output`."""
    parts = response.message.parts
    texts = [
        part.text if part.type == "text" else json.dumps(part.value, ensure_ascii=False)
        for part in parts
        if part.type in ("text", "data")
    ]
    output: dict[str, Any] = {"text": "".join(texts) if texts else None}
    thinking = "".join([part.text for part in parts if part.type == "thinking"])
    if thinking:
        output["reasoning_content"] = thinking
    calls = [_call(part) for part in parts if part.type == "tool_call"]
    if calls:
        output["tool_calls"] = calls
    citations = [_citation(part) for part in parts if part.type == "citation"]
    if citations:
        output["citations"] = citations
    logprobs = getattr(response, "logprobs", None)
    if logprobs:
        output["logprobs"] = {
            "content": [{**_scored(token), "top_logprobs": [_scored(one) for one in token.top]} for token in logprobs]
        }
    return output if len(output) > 1 else output["text"]


def _completer(lm: Any) -> Any:
    """An engine's own method; None for a model that is called itself."""
    return None if callable(lm) else lm.complete


def _request(
    lm: Any, messages: Sequence[Mapping[str, Any]], params: Mapping[str, Any]
) -> tuple[Any, dict[str, Any], int]:
    """The `dspy.lm15.Request`; what goes beside it; and how many times it is asked, as one has one Response."""
    module = sys.modules.get("dspy.lm15")
    if module is None:
        raise TypeError(
            f"{type(lm).__name__} takes a dspy.lm15.Request, and no dspy that has one is imported: "
            "`import dspy.lm15` first, or give a model that is called with `messages`"
        )
    beside = {name: params[name] for name in OF_THE_LM if name in params}
    sent = {name: value for name, value in params.items() if name not in (*OF_THE_LM, *COUNTS) and value is not None}
    # An engine has no name of its own, and a Request needs one.
    model = getattr(lm, "model", None) or type(lm).__name__
    request = module.request_from_openai_chat({"model": model, "messages": list(messages), **sent})
    return request, beside, next((params[name] for name in COUNTS if params.get(name) is not None), 1)


def _call(part: Any) -> dict[str, Any]:
    function = {"name": part.name, "arguments": json.dumps(part.input)}
    return {"id": part.id, "type": "function", "function": function}


def _citation(part: Any) -> dict[str, Any]:
    given = {"text": part.text, "title": part.title, "url": part.url}
    return {name: value for name, value in given.items() if value is not None}


def _scored(token: Any) -> dict[str, Any]:
    return {
        "token": token.token,
        "logprob": token.logprob,
        "bytes": None if token.bytes is None else list(token.bytes),
    }
