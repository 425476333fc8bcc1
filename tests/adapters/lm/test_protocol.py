"""Chunks put together into responses."""

from __future__ import annotations

from scripted_lm import collect

from adapters.lm.protocol import Chunk, Collector, Completion, ToolCallPart


def test_pieces_of_each_completion_are_joined_in_order() -> None:
    chunks = [Chunk(text="b", choice=1), Chunk(text="a1"), Chunk(text="a2", finish_reason="stop")]
    first, second = collect(chunks)
    assert (first.text, first.finish_reason) == ("a1a2", "stop")
    assert (second.text, second.finish_reason) == ("b", None)


def test_usage_and_cost_of_the_call_stand_in_every_completion() -> None:
    chunks = [Chunk(text="a"), Chunk(text="b", choice=1), Chunk(usage={"total_tokens": 3}, cost=0.5)]
    assert [(one.usage, one.cost) for one in collect(chunks)] == [({"total_tokens": 3}, 0.5)] * 2


def test_tool_calls_keep_their_first_name_and_all_their_arguments() -> None:
    parts = [ToolCallPart(1, "id1", "b", "{}"), ToolCallPart(0, "id0", "a", '{"x"'), ToolCallPart(0, "", "", ":1}")]
    (response,) = collect([Chunk(tool_calls=(part,)) for part in parts])
    assert response.tool_calls == (
        {"id": "id0", "type": "function", "function": {"name": "a", "arguments": '{"x":1}'}},
        {"id": "id1", "type": "function", "function": {"name": "b", "arguments": "{}"}},
    )


def test_what_has_arrived_can_be_asked_for_at_any_time() -> None:
    collector = Collector()
    assert collector.completions == ()
    collector.add(Chunk(text="so far"))
    assert collector.completions[0].text == "so far"


def test_an_output_for_an_adapter_holds_only_what_there_is() -> None:
    assert Completion(text="a").as_output() == {"text": "a"}
    whole = Completion("a", None, "hm", ({"id": "1"},), logprobs={"content": []})
    assert whole.as_output() == {
        "text": "a",
        "reasoning_content": "hm",
        "tool_calls": [{"id": "1"}],
        "logprobs": {"content": []},
    }


def test_logprobs_of_openai_are_joined_and_chunks_keep_their_own() -> None:
    chunks = [Chunk(logprobs={"content": [{"token": one}], "refusal": None}) for one in "abc"]
    (response,) = collect([*chunks, Chunk(text="d")])
    assert response.logprobs == {"content": [{"token": one} for one in "abc"], "refusal": None}
    assert [one.logprobs["content"] for one in chunks] == [[{"token": one}] for one in "abc"]
    (mixed,) = collect([*chunks, Chunk(logprobs=[1]), Chunk(logprobs={"content": [2]})])
    assert mixed.logprobs == {"content": [2]}


def test_logprobs_that_are_not_openais_are_kept_as_they_came_last() -> None:
    (response,) = collect([Chunk(logprobs=[1]), Chunk(logprobs=[2])])
    assert response.logprobs == [2]
