"""Fields of a reply that is still arriving: complete ones, and the one being written, however it is cut."""

from __future__ import annotations

import random
from typing import Any

import pytest

from adapters.formats.catalog import make
from adapters.replies.arrival import Arrival
from adapters.signatures.signature import Signature
from sessions.model.session import SignatureText

REPLIES: dict[str, tuple[Any, str]] = {
    "chat": (
        "markers",
        "Oh.\n[[ ## reasoning ## ]]\nA [[ b ]]\n\n[[ ## tags ## ]]\n['x']\n\n[[ ## completed ## ]]\n",
    ),
    "xml": ("xml", "<reasoning>\na &lt; b\n</reasoning>\n<tags><item>x</item></tags>\n"),
    "json": (
        "json",
        'Here:\n{"reasoning": "a \\"}, \\\\", "other": [{"tags": 2}], "tags": ["x, {"]}\nBye "x": 1, {',
    ),
    "markdown": ("fenced json", '```json\n{"reasoning": "a", "tags": ["x"]}\n```'),
}


def signature() -> Signature:
    return SignatureText("question -> reasoning: str, tags: list[str]").read()


@pytest.mark.parametrize("name", REPLIES)
def test_the_values_are_those_of_the_parser_whatever_the_chunks(name: str) -> None:
    form, text = REPLIES[name]
    assert make(name).profile.reply == form
    read = make(name).read(signature(), text)
    places = {field: one.place for field, one in read.fields.items()}
    assert all(places.values())
    for seed in range(30):
        chance, arrival, at = random.Random(seed), Arrival(form, ("reasoning", "tags")), 0
        while at < len(text):
            at = min(len(text), at + chance.randint(1, 9))
            spans = arrival.spans(text[:at])
            assert [one.start for one in spans] == sorted(one.start for one in spans)
        assert [one.field for one in spans] == ["reasoning", "tags"]
        for one in spans:
            start, end = places[str(one.field)]  # type: ignore[misc]
            assert one.start <= start and end <= one.end
            assert not text[one.start : start].strip(' \n"') and not text[end : one.end].strip(' \n"')


def test_the_field_being_written_is_marked() -> None:
    arrival = Arrival("markers", ("a", "b"))
    assert arrival.spans("hm") == ()
    (one,) = arrival.spans("hm\n[[ ## a ## ]]\nhal")
    assert (one.field, one.end) == ("a …", 20)
    assert [one.field for one in arrival.spans("hm\n[[ ## a ## ]]\nhalf\n[[ ## b ## ]]\n")] == ["a", "b …"]
    twice = arrival.spans("hm\n[[ ## a ## ]]\nhalf\n[[ ## b ## ]]\nx\n[[ ## a ## ]]\nmore")
    assert [one.field for one in twice] == ["a", "b"]
    assert Arrival("own", ("a",)).spans("[[ ## a ## ]]") == ()
    assert Arrival("json", ()).spans('{"a": 1}') == ()


def test_a_long_string_is_not_read_again_with_each_chunk() -> None:
    arrival, text = Arrival("json", ("a",)), '{"a": "' + "x\\\\" * 10
    arrival.spans(text)
    before = arrival._at
    assert before == len(text) and arrival.spans(text + "\\")[0].field == "a …"
    assert arrival.spans(text + '\\" still"}')[0].field == "a"
