"""Long XML replies: of what is left out of the tree, verdict, values and places are the same."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as some

from adapters import InputField, OutputField, Signature
from adapters.formats.catalog import make
from adapters.formats.xml_reading import LONG, needed
from adapters.replies.reading import Reading

SIGNATURE = (
    Signature.make(()).append("q", InputField(), str).append("v", OutputField(), str).append("w", OutputField(), list)
)
TEXTS = ("x", " ", "\n", "1", "&amp;", "&#65;", "é", "'", '"')
FAULTS = ("&nbsp;", "&", "<", "]]>", "\0", "\x01", "\ud800", "</v>", "<v>", "</dspy_root>", "<dspy_root>", ">", "\r")
BESIDE = ("<!-- c -->", "<![CDATA[<v>]]>", "<?pi x?>", "<!DOCTYPE x [<!ENTITY a 'b'>]>", "<p:b/>", "<b xmlns='u'/>")
MANY = " ".join(f"b{number}='x'" for number in range(9))
PLAIN = ("", " a='1'", " key='v'", " key='z'", ' a="x>y"', " xml:lang='x'", f" {MANY}")
ATTRIBUTES = (*PLAIN, " a='1' a='2'", " p:a='1'", " a='<'", " xmlns='u'")


def element(inner: some.SearchStrategy[str]) -> some.SearchStrategy[str]:
    tags = some.sampled_from(("v", "w", "b", "c", "vv", "entry", "é"))
    parts = some.tuples(tags, some.sampled_from(ATTRIBUTES), some.lists(inner, max_size=3).map("".join))
    return parts.map(lambda one: f"<{one[0]}{one[1]}>{one[2]}</{one[0]}>" if one[2] else f"<{one[0]}{one[1]}/>")


ELEMENTS = some.recursive(element(some.sampled_from(TEXTS)), element, max_leaves=4)
PIECES = some.one_of(ELEMENTS, ELEMENTS.map(lambda one: one * 3), some.sampled_from(TEXTS))


@some.composite
def documents(draw: some.DrawFn) -> str:
    """A fragment, of which a piece may be wrong."""
    before, after = [draw(some.lists(PIECES, max_size=4).map("".join)) for _ in range(2)]
    whole = before + "".join(f"<b{number}/>" for number in range(draw(some.integers(0, 60)))) + after
    at = draw(some.integers(0, len(whole)))
    return whole[:at] + draw(some.sampled_from(("", "", *FAULTS, *BESIDE))) + whole[at:]


def told(reading: Reading) -> list[Any]:
    """All that a parse result and its error say."""
    cause = getattr(reading.exception, "__cause__", None)
    error = (type(cause), str(cause), getattr(cause, "code", None), getattr(cause, "position", None))
    causes = [(one.cause, one.message) for one in reading.diagnosis]
    fields = [(one.state, one.place, repr(one.value), one.steps) for one in reading.fields.values()]
    return [reading.error, str(reading.exception), error, repr(reading.values), reading.spans, fields, causes]


@settings(max_examples=4 * settings().max_examples)
@example("<v>x</v>" + "<b/><c/>" * 20 + "<entry key='v'>2</entry>", 8, 1, 1000)
@given(documents(), some.sampled_from((1, 3, 8)), some.sampled_from((1, 2, 5)), some.sampled_from((1, 2, 1000)))
def test_nothing_that_is_left_out_changes_the_result(text: str, long: int, placed: int, repeats: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adapters.formats.xml_reading.LONG", long)
        patch.setattr("adapters.formats.xml_reading.MOST_PLACED", placed)
        patch.setattr("adapters.formats.xml_reading.MOST_REPEATS", repeats)
        found = told(make("xml").read(SIGNATURE, text))
        patch.setattr("adapters.formats.xml_reading.needed", lambda *_: None)
        assert found == told(make("xml").read(SIGNATURE, text))


NAMES = ("v", "w", "entry")


def test_a_tree_is_made_of_the_beginning_alone_if_no_field_can_follow() -> None:
    text = "<v>x</v><w>1</w>" + "".join(f"<b{number}/>" for number in range(LONG // 3))
    part = needed(text, NAMES)
    assert part is not None
    assert part.is_cut
    assert len(part.text) < 1.1 * LONG
    for late in ("<w>2</w>", "<entry key='v'>2</entry>", "<!-- c -->", "<b xmlns='u'/>"):
        assert needed(text + late, NAMES) is None, late


def test_a_tree_is_made_without_the_attributes_of_a_long_first_tag() -> None:
    text = "<v " + " ".join(f"a{number}='x'" for number in range(LONG // 4)) + ">x</v>"
    assert needed(text, NAMES) == ("<v>x</v>", False)
    assert needed(text.replace("<v ", "<entry ").replace("</v>", "</entry>"), NAMES) is None


@pytest.mark.parametrize("rest", ["<w>x</w>", "<w/>", ""])
def test_an_element_may_hold_one_of_its_name_in_a_namespace(rest: str) -> None:
    reading = make("xml").read(SIGNATURE, f"<b><b xmlns='u'></b></b><v><v xmlns='u'>a</v>b</v>{rest}")
    assert reading.values.get("v", reading.fields["v"].value) == '<ns0:v xmlns:ns0="u">a</ns0:v>b'
    assert reading.fields["v"].raw == "<v xmlns='u'>a</v>b"
