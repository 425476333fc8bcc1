"""Markdown and SVG: all of the text is there, and none of it is markup."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from adapters.shown.as_text import visible
from sessions import examples
from sessions.exports.exported import ExportError, source_of
from sessions.exports.markdown import markdown
from sessions.exports.svg import COLUMNS, cells, rows_of, svg
from sessions.model.replies import Reply
from sessions.model.session import DEFAULT_COLUMNS, Case, Column, Demo, Session, SignatureText

NASTY = "</text><script>alert(1)</script> &amp; ````` <!-- [x](y) \x1b[31m \x00 \udc80 \u202e 漢字 é \t ]]> ' \""
HOSTILE = Session(
    SignatureText("q -> a", instructions=NASTY),
    (Demo({"q": NASTY, "a": NASTY}),),
    DEFAULT_COLUMNS,
    (Case(f"case {NASTY}", {"q": NASTY}, replies={"chat": Reply(f"[[ ## a ## ]]\n{NASTY}", source="pasted")}),),
    name=NASTY,
    notes=NASTY,
)


BLOCKS = {
    *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "fence"),
    *("bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close"),
}


def texts(drawn: str) -> list[str]:
    root = ElementTree.fromstring(drawn.encode("utf-8"))
    assert {one.tag.rpartition("}")[2] for one in root.iter()} == {"svg", "style", "rect", "text"}
    return [one.text or "" for one in root.iter() if one.tag.endswith("}text")]


def test_a_picture_has_all_of_the_text_and_no_markup_of_it() -> None:
    source = source_of(HOSTILE, HOSTILE.columns[:1], HOSTILE.cases, name=NASTY)
    made = svg(source)
    assert made == svg(source)
    shown = re.sub(r"\s", "", "".join(texts(made.text)))
    for message in source.first.request.messages:
        assert re.sub(r"\s", "", visible(str(message.content))) in shown


def test_a_picture_of_a_long_prompt_is_refused() -> None:
    session = Session(SignatureText("q -> a"), (), DEFAULT_COLUMNS, (Case("x", {"q": "a\n" * 5_000}),))
    with pytest.raises(
        ExportError, match="a picture has room for 4,000 rows, and the prompt has more; the export as markdown has room"
    ):
        svg(source_of(session, session.columns[:1], session.cases))


def test_rows_keep_every_sign_and_are_never_too_wide() -> None:
    text = "word " * 50 + "漢" * 150 + " end\n" + "x" * 250 + "\n\n" + " " * 130 + "."
    rows = rows_of([(text[:70], "value"), (text[70:], "custom")])
    assert "".join(run.text for row in rows for run in row) == text.replace("\n", "")
    assert max(run.start + cells(run.text.rstrip()) for row in rows for run in row) <= COLUMNS


def test_markdown_has_nothing_outside_of_its_fences_but_escaped_text() -> None:
    source = source_of(HOSTILE, HOSTILE.columns, HOSTILE.cases, name=NASTY)
    made = markdown(source)
    assert made == markdown(source)
    assert made.text.encode("utf-8")
    tokens = MarkdownIt("commonmark").parse(made.text)
    inline = [one for token in tokens for one in (token.children or ())]
    assert {one.type for one in tokens} <= BLOCKS
    assert {one.type for one in inline} <= {"text", "code_inline", "strong_open", "strong_close"}
    assert [one.content for one in inline if one.type == "code_inline"] == []
    fences = [token.content.rstrip("\n") for token in tokens if token.type == "fence"]
    for message in source.first.request.messages:
        assert visible(str(message.content)).rstrip("\n") in fences
    assert visible(NASTY) in made.text and "\x1b" not in made.text


def test_markdown_shows_the_reply_and_what_was_read_of_it() -> None:
    session = examples.load("question")
    values = {"answer": "Yes.", "sections": "['4']", "supported": "no", "confidence": "1"}
    reply = "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in values.items())
    case = replace(session.cases[0], replies={"chat": Reply(reply, source="edited", model="offline/sloppy")})
    rated = replace(case, replies={"chat": replace(case.replies["chat"], rating="good", note="as <it> should")})
    shown = markdown(source_of(session, [Column("chat", "chat")], [rated])).text
    assert "Rated good.\n\n```text\nas <it> should\n```" in shown
    made = markdown(source_of(session, [Column("chat", "chat")], [case]))
    assert "### reply of offline/sloppy (edited)" in made.text
    assert '"answer": "Yes."' in made.text
    assert "- supported: **bool-from-a-word**: " in made.text
    broken = replace(case, replies={"chat": Reply("nothing")})
    assert "Not read: AdapterParseError" in markdown(source_of(session, [Column("chat", "chat")], [broken])).text


def test_long_data_is_cut_and_said() -> None:
    picture = "data:image/png;base64," + "A" * 5_000
    session = Session(SignatureText("p: dspy.Image -> a"), (), DEFAULT_COLUMNS, (Case("x", {"p": picture}),))
    source = source_of(session, session.columns[:1], session.cases)
    for export in (markdown, svg):
        made = export(source)
        assert "A" * 200 not in made.text
        assert "(5,022 characters)" in re.sub(r"<[^>]*>|\n", "", made.text)
        assert any("long data" in one for one in made.left_out)
