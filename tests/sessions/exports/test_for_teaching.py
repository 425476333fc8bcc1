"""Markdown: all of the text is there, and none of it is markup."""

from __future__ import annotations

import re
from dataclasses import replace

from markdown_it import MarkdownIt

from adapters.display.as_text import visible
from sessions import examples
from sessions.exports.exported import source_of
from sessions.exports.markdown import markdown
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
    made = markdown(source)
    assert "A" * 200 not in made.text
    assert "(5,022 characters)" in re.sub(r"<[^>]*>|\n", "", made.text)
    assert any("long data" in one for one in made.left_out)


def test_markdown_says_which_reply_answers_another_prompt_or_model() -> None:
    session = examples.load("question")
    reply = Reply("x", model="another/model")
    for source, said in (("sent", "(sent, to another prompt or model)"), ("pasted", "(pasted)")):
        case = replace(session.cases[0], replies={"chat": replace(reply, source=source)})
        assert (
            f"### reply of another/model {said}" in markdown(source_of(session, [Column("chat", "chat")], [case])).text
        )
