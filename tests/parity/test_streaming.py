"""What a stream listener emits for each chunk: dspy's own and ours, for the same cuts of the same replies."""

from __future__ import annotations

import random
from typing import Any

import dspy
import pytest
from dspy.adapters.baml_adapter import BAMLAdapter
from dspy.streaming import StreamListener

from adapters.replies import streaming
from tests.support.pace import LOOPS_A_SECOND, loops

ADAPTERS: dict[str, Any] = {"markers": dspy.ChatAdapter, "json": dspy.JSONAdapter, "xml": dspy.XMLAdapter}
FIELDS = ("reasoning", "answer", "score")
PIECES = (
    *(
        "word",
        " two words",
        "\n",
        "\n\n",
        "",
        "[",
        "[[",
        "[[ ##",
        "]]",
        '"',
        '\\"',
        "}",
        "{",
        "},",
        '",',
        "<",
        "</",
        "<b>",
    ),
    *("</answer>", "[1, 2]", "answer", '"answer":', "[[ ## answer ## ]]", "é", "  ", ", "),
)


def value(rng: random.Random) -> str:
    return "".join(rng.choice(PIECES) for _ in range(rng.choice((0, 1, 2, 3, 5, 9))))


def reply(rng: random.Random, form: str) -> str:
    """A reply as models write them, with values that quote markers; sometimes without its end."""
    import json

    values = {name: value(rng) for name in rng.sample(FIELDS, rng.choice((1, 2, 3)))}
    if form == "json":
        made: dict[str, Any] = {
            name: rng.choice((one, one, [one], {"a": one}, 3, None)) for name, one in values.items()
        }
        text = json.dumps(made, indent=rng.choice((None, 2)), ensure_ascii=rng.random() < 0.5)
    elif form == "xml":
        text = "\n\n".join(f"<{name}>\n{one}\n</{name}>" for name, one in values.items())
    else:
        text = "".join(f"[[ ## {name} ## ]]\n{one}\n\n" for name, one in values.items()) + "[[ ## completed ## ]]"
    if rng.random() < 0.2:
        text = f"Sure! {text}"
    return text[: rng.randrange(len(text) + 1)] if rng.random() < 0.2 else text


def cut(rng: random.Random, text: str) -> list[str]:
    """The text in pieces of any size, some of them empty."""
    longest = rng.choice((1, 3, 8, 30, 400))
    chunks, at = [], 0
    while at < len(text):
        size = rng.randint(0, longest)
        chunks.append(text[at : at + size])
        at += size
    return chunks


def chunk(text: str) -> Any:
    # seconds of imports, for the runs alone that stream
    from litellm.types.utils import Delta, ModelResponseStream, StreamingChoices

    return ModelResponseStream(choices=[StreamingChoices(delta=Delta(content=text))])


def theirs(form: str, field: str, chunks: list[str]) -> list[tuple[str, bool, int | None]]:
    listener = StreamListener(field, predict_name="p")
    said: list[tuple[str, bool, int | None]] = []
    with dspy.context(adapter=ADAPTERS[form]()):
        for number, text in enumerate(chunks):
            if (one := listener.receive(chunk(text))) is not None:
                said.append((one.chunk, one.is_last_chunk, number))
        if (last := listener.finalize()) is not None:
            said.append((last.chunk, last.is_last_chunk, None))
    return said


@pytest.mark.parametrize("form", ADAPTERS)
@pytest.mark.parametrize("block", [0, *(pytest.param(one, marks=pytest.mark.slow) for one in range(1, 20))])
def test_every_cut_of_a_reply_is_emitted_as_dspy_emits_it(block: int, form: Any) -> None:
    for seed in range(block * 100, block * 100 + 100):
        rng = random.Random(f"stream {seed}")
        chunks = cut(rng, reply(rng, form))
        for one in streaming.streamed(form, FIELDS, chunks):
            ours = [(each.chunk, each.is_last, each.at) for each in one.emitted]
            assert ours == theirs(form, one.field, chunks), (seed, one.field, chunks)


def test_other_adapters_are_refused_by_dspy_too() -> None:
    assert set(streaming.FORMS.values()) == set(ADAPTERS)
    listener = StreamListener("answer", predict_name="p")
    with dspy.context(adapter=BAMLAdapter()), pytest.raises(ValueError, match="Unsupported adapter for streaming"):
        listener.receive(chunk("x"))


def test_a_chunk_that_holds_a_whole_field_is_never_emitted() -> None:
    """dspy takes it for a cached reply; some models send several tokens in a chunk."""
    (one,) = streaming.streamed("markers", ["answer"], ["[[ ## answer ## ]]\nyes\n\n[[ ## completed ## ]]"])
    assert (one.text, one.is_in_a_chunk, one.emitted) == ("", True, ())


def test_a_long_chunk_without_the_field_is_read_in_little_time() -> None:
    chunks = ['{"', "x" * 1_000_000]
    assert loops(lambda: streaming.streamed("json", ["answer"], chunks), tries=1) < LOOPS_A_SECOND


def test_what_follows_double_brackets_in_a_value_is_lost() -> None:
    """As dspy's pull request 10459 says of nested arrays."""
    (one,) = streaming.streamed("markers", ["answer"], ["[[ ## answer ## ]]\n", "see [[", "a link]]", " here"])
    assert one.text == theirs_text(["[[ ## answer ## ]]\n", "see [[", "a link]]", " here"])
    assert "a link" not in one.text


def theirs_text(chunks: list[str]) -> str:
    return "".join(text for text, _, _ in theirs("markers", "answer", chunks))


@pytest.mark.parametrize(
    ("form", "fields", "chunks", "lost"),
    [
        ("markers", ["answer"], ["[[ ## answer ## ]]\n", "To", " the", " road", " [", "["], ""),  # dspy 8889, 8182
        ("markers", ["answer"], ["[[ ## answer ## ]]\nAll.\n\n[[ ## completed ## ]]"], "All."),  # dspy 8211
        (
            "markers",
            ["next_thought", "next_tool_name"],
            ["[[ ## next_thought ## ]]\nI", "\n\n", "[[ ## next_tool_name ## ]]\nfinish", "\n\n[[ ## next_tool_args"],
            "",
        ),  # dspy 9085
    ],
)
def test_threads_on_lost_words(form: Any, fields: list[str], chunks: list[str], lost: str) -> None:
    for one in streaming.streamed(form, fields, chunks):
        assert [(each.chunk, each.is_last, each.at) for each in one.emitted] == theirs(form, one.field, chunks)
        assert one.is_in_a_chunk == bool(lost)
        assert one.emitted == () if lost else one.emitted[-1].is_last
