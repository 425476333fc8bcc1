"""An adapter called with a model of dspy 3.4, or with one as 3.5 announces it: the same prompt, the same values."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import dspy
import pytest
from dspy import lm15
from next_dspy import NextAsyncEngine, NextEngine, NextLM
from oracle.engines import ScriptedLM
from user_adapters import PromptAdapter

from adapters.formats import calling
from adapters.formats.base import Adapter
from adapters.formats.chat import ChatAdapter
from adapters.formats.two_step import TwoStepAdapter
from adapters.prompts.text import message_dicts
from adapters.signatures.signature import Signature

QA = Signature.from_dspy(dspy.Signature("question -> answer"))
TOOLS = Signature.from_dspy(dspy.Signature("question, tools: list[dspy.Tool] -> answer, calls: dspy.ToolCalls"))
ASKED = {"question": "Why?"}
DEMO = {"question": "Who?", "answer": "Me"}
WRITTEN = "answer = so"
IN_CHAT = "[[ ## answer ## ]]\nso\n\n[[ ## completed ## ]]"


class RequestAdapter(PromptAdapter):
    """A user's adapter whose `format` gives an object with `system` and `messages`."""

    def format(self, signature: Any, demos: Any, inputs: Any) -> Any:
        system, *others = super().format(signature, demos, inputs)
        messages = [getattr(lm15.Message, one["role"])(one["content"]) for one in others]
        return lm15.Request(model="m", system=system["content"], messages=tuple(messages))


def called(adapter: Adapter, lm: Any, way: str, params: Mapping[str, Any], signature: Signature = QA) -> Any:
    given = dict(params), signature, [DEMO], ASKED
    return asyncio.run(adapter.acall(lm, *given)) if way == "acall" else adapter(lm, *given)


@pytest.mark.parametrize("way", ["call", "acall"])
@pytest.mark.parametrize("adapter", [PromptAdapter(), RequestAdapter()], ids=["a list", "an object"])
def test_a_users_adapter_is_called_with_either_model(adapter: Adapter, way: str) -> None:
    old, new = ScriptedLM([[WRITTEN]]), NextLM(WRITTEN)
    params = {"temperature": 0.5, "max_tokens": 9}
    assert called(adapter, old, way, params) == called(adapter, new, way, params) == [{"answer": "so"}]
    (request,) = new.requests
    assert message_dicts(request) == old.calls[0]["messages"]
    assert [one["role"] for one in message_dicts(request)] == ["system", "user", "assistant", "user"]
    assert (request.model, request.config.temperature, request.config.max_tokens) == ("next/model", 0.5, 9)


@pytest.mark.parametrize(
    ("engine", "ways"), [(NextEngine, ("call", "acall")), (NextAsyncEngine, ("acall",))], ids=["sync", "async"]
)
def test_an_engine_is_asked_itself(engine: Any, ways: Sequence[str]) -> None:
    for way in ways:
        made = engine(IN_CHAT)
        assert called(ChatAdapter(), made, way, {"rollout_id": 1}) == [{"answer": "so"}]
        assert message_dicts(made.requests[0]) == ChatAdapter().format(QA, [DEMO], ASKED)


def test_an_engine_that_is_only_asynchronous_is_not_called_without_awaiting() -> None:
    with pytest.raises(TypeError, match="NextAsyncEngine is only asynchronous: call the adapter's `acall`"):
        called(ChatAdapter(), NextAsyncEngine(IN_CHAT), "call", {})


@pytest.mark.parametrize("way", ["call", "acall"])
def test_a_fallback_asks_the_same_model_again(way: str) -> None:
    lm = NextLM("no markers", '{"answer": "so"}')
    assert called(ChatAdapter(), lm, way, {}) == [{"answer": "so"}]
    assert "JSON" in message_dicts(lm.requests[1])[-1]["content"]


@pytest.mark.parametrize("way", ["call", "acall"])
def test_two_step_asks_two_of_them(way: str) -> None:
    old, new = NextLM(IN_CHAT), NextLM("It is so.")
    assert called(TwoStepAdapter(old), new, way, {}) == [{"answer": "so"}]
    assert "It is so." in message_dicts(old.requests[0])[-1]["content"]


def test_a_request_has_one_response_so_several_completions_are_several_calls() -> None:
    lm = NextLM(WRITTEN, "answer = otherwise")
    assert called(PromptAdapter(), lm, "call", {"n": 2}) == [{"answer": "so"}, {"answer": "otherwise"}]
    assert lm.requests[0] == lm.requests[1]


def test_what_is_of_dspys_cache_goes_beside_the_request() -> None:
    lm = NextLM(WRITTEN)
    called(PromptAdapter(), lm, "call", {"rollout_id": 3, "cache": False, "seed": 1})
    assert lm.beside == [{"rollout_id": 3, "cache": False}]
    assert lm.requests[0].config.extensions is None or "rollout_id" not in lm.requests[0].config.extensions


def test_native_tools_go_out_and_their_calls_come_back() -> None:
    call = lm15.ToolCallPart(id="c1", name="find", input={"q": "a"})
    tool = dspy.Tool(lambda q: q, name="find", desc="Finds it", args={"q": {"type": "string"}})
    old = ScriptedLM(
        [[{"text": None, "tool_calls": [{"id": "c1", "function": {"name": "find", "arguments": '{"q": "a"}'}}]}]],
        fc=True,
    )
    new = NextLM([call])
    made = [
        ChatAdapter(use_native_function_calling=True)(lm, {}, TOOLS, [], {**ASKED, "tools": [tool]})
        for lm in (old, new)
    ]
    assert made[0] == made[1]
    assert made[1][0]["calls"].tool_calls[0].name == "find"
    assert [one.name for one in new.requests[0].tools] == ["find"]


def test_an_output_is_what_dspy_makes_of_the_response() -> None:
    from dspy.clients.call_result import legacy_output

    token = lm15.TokenLogprob(token="so", logprob=-0.5, top=(lm15.TopLogprob(token="no", logprob=-2.0, bytes=(110,)),))
    parts = (
        lm15.ThinkingPart("hm"),
        lm15.TextPart("so"),
        lm15.TextPart("!"),
        lm15.CitationPart(text="a", url="https://example.com/"),
        lm15.ToolCallPart(id="c1", name="find", input={"q": "ä"}),
    )
    for given, logprobs in ((parts, (token,)), ((lm15.TextPart("so"),), None), ((lm15.RefusalPart("no"),), None)):
        message = lm15.Message(role="assistant", parts=given)
        response = lm15.Response(
            id=None, model="m", message=message, finish_reason="stop", usage=lm15.Usage(), logprobs=logprobs
        )
        theirs = legacy_output(response, logprobs=logprobs is not None)
        assert calling.output_of(response) == (theirs if len(theirs) > 1 else theirs["text"])


def test_which_models_are_called_with_messages() -> None:
    class OfDspy:
        """`dspy.LM` may well take anything by name, and has no `forward` from 3.5 on."""

        __module__ = "dspy.clients.lm"

        def __call__(self, prompt: Any = None, **kwargs: Any) -> Any: ...

    def by_hand(prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> Any: ...

    assert [calling.takes_requests(one) for one in (ScriptedLM(), dspy.LM("openai/x"), by_hand, dict)] == [False] * 4
    assert [calling.takes_requests(one) for one in (NextLM(), NextEngine(), NextAsyncEngine(), OfDspy())] == [True] * 4


def test_without_a_dspy_that_has_requests_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "dspy.lm15")
    with pytest.raises(TypeError, match=r"NextLM takes a dspy\.lm15\.Request, but no dspy with that class is imported"):
        called(PromptAdapter(), NextLM(WRITTEN), "call", {})
