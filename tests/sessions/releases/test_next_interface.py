"""A dspy whose adapters call a model with a Request and whose models have no `forward`: worker and tests bear it.

No release does so yet. `NextAdapter` stands in for one: it builds `dspy.lm15.Request` and reads a `dspy.lm15.Response`,
as `dspy.clients.engines.base` says of 3.5.
"""

from __future__ import annotations

from typing import Any

import dspy
import pytest
from dspy import lm15
from oracle.engines import ScriptedLM

from adapters.formats import calling
from sessions.releases import dspy_worker as worker


class NextAdapter:
    """`format` gives an object with `system` and `messages`; a call sends it, and reads the response's text."""

    def format(self, signature: Any, demos: Any, inputs: Any) -> Any:
        plain = dspy.ChatAdapter().format(signature, demos, inputs)
        messages = tuple([lm15.Message.user(one["content"]) for one in plain[1:]])
        return lm15.Request(
            model="m", system=plain[0]["content"], messages=messages, config=lm15.Config(temperature=0.5, max_tokens=9)
        )

    def __call__(self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any) -> list[dict[str, Any]]:
        response = lm(self.format(signature, demos, inputs))
        return [dspy.ChatAdapter().parse(signature, response.message.text)]


def test_a_request_is_kept_as_plain_messages_and_its_answer_is_read() -> None:
    signature = dspy.Signature("question -> answer: int")
    lm = worker.Scripted("[[ ## answer ## ]]\n4\n\n[[ ## completed ## ]]", answers_once=True, model="m")
    adapter = NextAdapter()
    rendered = worker.watched(adapter)
    found = worker.read(adapter, lm, {}, signature, [], {"question": "2+2?"})
    assert found == {"ok": True, "values": {"answer": 4}}
    assert rendered == [signature]
    ((messages, params),) = lm.asked
    assert messages == dspy.ChatAdapter().format(signature, [], {"question": "2+2?"})
    assert params == {"temperature": 0.5, "max_tokens": 9}


def test_an_empty_answer_is_an_answer_too() -> None:
    lm = worker.Scripted("", answers_once=True, model="m")
    signature = dspy.Signature("question -> answer")
    assert worker.read(NextAdapter(), lm, {}, signature, [], {"question": "?"})["ok"] is False


def test_a_second_call_is_another_attempt_in_that_interface_too() -> None:
    lm = worker.Scripted("x", answers_once=True, model="m")
    asked = lm15.Request(model="m", messages=(lm15.Message.user("Why?"),))
    lm(asked)
    with pytest.raises(worker.AskedAgainError):
        lm(asked)


def test_the_engines_own_interface_has_no_forward() -> None:
    """`complete(Request) -> Response` is all that 3.5 asks of an engine."""
    lm = worker.Scripted("yes", model="m")
    response = lm.complete(lm15.Request(model="m", messages=(lm15.Message.user("Why?"),)))
    assert isinstance(response, lm15.Response) and response.message.text == "yes"


def test_the_model_that_the_comparisons_with_dspy_use_takes_either_shape() -> None:
    signature = dspy.Signature("question -> answer: int")
    old, new = (ScriptedLM([["[[ ## answer ## ]]\n4"]]) for _ in range(2))
    given = signature, [], {"question": "2+2?"}
    params = {"temperature": 0.5, "max_tokens": 9}
    assert dspy.ChatAdapter()(old, dict(params), *given) == NextAdapter()(new, {}, *given) == [{"answer": 4}]
    assert old.calls == new.calls


def test_its_native_parts_are_those_of_a_list() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "a"}'}}
    for output in ({"text": "so", "reasoning_content": "hm"}, {"text": None, "tool_calls": [call]}, "so", None):
        asked = lm15.Request(model="m", messages=(lm15.Message.user("Why?"),))
        assert calling.output_of(ScriptedLM([[output]])(asked)) == output
