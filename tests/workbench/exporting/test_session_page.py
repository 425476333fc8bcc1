"""A session as one page: everything is on it, all of it is text, and nothing is asked of anybody."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from functools import lru_cache

import pytest
from hypothesis import given
from page_seen import Node, seen

from adapters.display.as_html import escaped
from adapters.formats import catalog
from sessions import examples
from sessions.exports.exported import Exported, source_of
from sessions.model.replies import Extraction, Reply
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.running import rendering
from tests.sessions.strategies import sessions
from tests.support import hostile_session
from workbench.exporting import forms, prepared, session_page
from workbench.lessons import lesson, reply_lesson

EXAMPLES = ("question", "invoice", "receipt", "triage")
HOSTILE = (
    "<script>alert(1)</script></pre></style></script><img src=x onerror=alert(1)>",
    'javascript:alert(1) " onmouseover="alert(1)" \' autofocus',
    "{{ 7*7 }} ${7*7} `x` <!-- ]]> &lt;b&gt;",
    "\u202egpj.exe\u2066 \u200b \x1b[31m \x00 \ud800",
)
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def exported(session: Session) -> Exported:
    return session_page.page_of(source_of(session, session.columns, session.cases))


@lru_cache(maxsize=4)
def example(name: str) -> tuple[Session, str]:
    session = examples.load(name)
    return session, exported(session).text


def small(reply: str = "", **changes: object) -> Session:
    """One question under Chat and XML, with a reply under Chat where one is given."""
    replies = {"chat": Reply(reply)} if reply else {}
    session = Session(
        signature=SignatureText("question -> answer, score: float"),
        columns=(Column("chat", "chat"), Column("xml", "xml")),
        cases=(Case("first", {"question": "why?"}, replies=replies), Case("second", {"question": "how?"})),
    )
    return replace(session, **changes)  # type: ignore[arg-type]


def column(page: Node, section: str, place: int) -> Node:
    return list(page.one("section", id=section).all("div", class_="column"))[place]


# -- what is on it


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_message_of_every_column_stands_on_it_to_the_character(name: str) -> None:
    session, text = example(name)
    page = seen(text)
    for place, case in enumerate(session.cases):
        shown = page.where(case=place, wording=0)
        for number, one in enumerate(session.columns):
            request = rendering.request_of(session, one, case)
            passages = column(shown, "prompts", number).all("pre", class_="pieces")
            # a page cannot hold the form feed of the invoice: its picture is shown
            sent = [message["content"].replace("\f", "␌") for message in request.prompt.as_dicts()]
            assert [one.text for one in passages] == sent


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_fits_into_a_megabyte(name: str) -> None:
    assert len(example(name)[1].encode()) <= 1_000_000


def test_each_piece_names_its_origin_and_shares_it_with_the_other_columns() -> None:
    page = seen(example("question")[1]).where(case=0, wording=0, reply=0)
    names = [one.text for one in page.one("ul", id="origins").all("li")]
    places: dict[str, set[int]] = {}
    for number in range(3):
        for piece in column(page, "prompts", number).all("span"):
            places.setdefault(names[int(piece.attributes["data-key"] or "")], set()).add(number)
    assert places["value of question · inputs"] == {0, 1, 2}
    assert places["name of supported · system"] == {0, 1, 2}
    fields = {one.attributes["data-field"] for one in page.one("ul", id="origins").all("li")}
    assert {one.attributes["data-light"] for one in page.all("button", class_="field")} <= fields


def test_the_lesson_goes_through_the_whole_prompt_and_reply_in_its_own_words() -> None:
    session, text = example("question")
    page = seen(text).where(case=0, wording=0, reply=0, column=1)
    steps = list(page.one("section", id="lesson").all("li"))
    request = rendering.request_of(session, session.columns[1], session.cases[0])
    told = lesson.steps_of(rendering.adapter_of(session.columns[1]), request)
    assert [one.one("button").text for one in steps[: len(told)]] == [one.title for one in told]
    texts = [one.text for one in page.one("ul", id="texts").all("li")]
    words = [
        texts[int(one.one("p").attributes["data-text"] or "")]
        for one in steps
        if "data-spans" in one.attributes or "data-at" in one.attributes
    ]
    assert words[: len(told)] == [one.explanation for one in told]
    lit = {one.attributes["data-step"] for one in column(page, "prompts", 1).all("span")}
    assert lit == {one.attributes["data-at"] for one in steps[: len(told)]}
    assert words[len(told)] == reply_lesson.REPLY
    assert words[-1] in (reply_lesson.READ, reply_lesson.NOT_READ)


def test_a_reply_of_the_session_comes_first_with_verdict_spans_values_and_flags() -> None:
    reply = "Sure!\n[[ ## answer ## ]]\nbecause\n\n[[ ## score ## ]]\n1"
    page = seen(exported(small(reply)).text)
    shown = column(page.where(case=0, wording=0, reply=0), "replies", 0)
    assert "✓ chat parses it" in shown.text and "because" in shown.text
    assert shown.one("pre").text == reply
    assert {one.attributes["class"] for one in shown.all("span")} >= {
        "k-reply-marker",
        "k-reply-value",
        "k-reply-ignored",
    }
    assert "There is no reply here." in column(page.where(case=1, wording=0, reply=0), "replies", 0).text
    assert page.one("option").text == prepared.KEPT


def test_a_step_of_a_second_model_names_the_spans_of_its_own_reply() -> None:
    extraction = Extraction("chat", "[[ ## answer ## ]]\nbecause\n\n[[ ## score ## ]]\n0.5")
    replies = {"twostep": Reply("It is so.", extraction=extraction)}
    case = Case("first", {"question": "why?"}, replies=replies)
    session = small(columns=(Column("twostep", "twostep"),), cases=(case,))
    page = seen(exported(session).text).where(case=0, wording=0, reply=0, column=0)
    score = next(one for one in page.one("section", id="lesson").all("li") if "score (float)" in one.text)
    assert "data-second" in score.attributes
    prose, second = column(page, "replies", 0).all("pre", class_="pieces")
    assert prose.text == "It is so."
    spans = list(second.all("span"))
    assert "0.5" in "".join(spans[int(place)].text for place in (score.attributes["data-spans"] or "").split())


def test_another_reply_and_another_type_are_a_switch_away_and_computed_before() -> None:
    page = seen(exported(small()).text)
    names = [one.text for one in page.all("option")]
    assert names[0] == "offline/exact" and "offline/truncated" in names
    cut = page.where(case=0, wording=0, reply=names.index("offline/truncated"))
    assert "✗ xml: parse error" in column(cut, "replies", 1).text
    assert "score: float → str" in page.one("div", id="switches").text
    prompts = [column(page.where(case=0, wording=one, reply=0), "prompts", 0).text for one in (0, 1)]
    assert "`score` (float)" in prompts[0] and "`score` (str)" in prompts[1]


def test_each_reply_is_read_by_every_parser() -> None:
    page = seen(exported(small()).text).where(case=0, wording=0, reply=0)
    rows = [
        [cell.text for cell in row.children if isinstance(cell, Node)]
        for row in page.one("section", id="matrix").all("tr")
    ]
    assert rows[0] == ["reply of", *catalog.NAMES]
    assert rows[1][:2] == ["chat", "✓ 2/2 own"] and rows[2][0] == "xml" and rows[2][3] == "✓ 2/2 own"


def test_a_column_that_has_no_prompt_says_why_and_the_others_stand() -> None:
    source = "class Part(BaseModel):\n    name: str\n    parts: list['Part']\n\nclass Take(dspy.Signature):\n"
    source += "    note: str = dspy.InputField()\n    part: Part = dspy.OutputField()\n"
    session = small(
        signature=SignatureText(source),
        columns=(Column("baml", "baml"), Column("chat", "chat")),
        cases=(Case("one", {"note": "a"}),),
    )
    page = seen(exported(session).text).where(case=0, wording=0, reply=0)
    assert "recursive" in column(page, "prompts", 0).text
    assert "[[ ## note ## ]]" in column(page, "prompts", 1).text


def test_where_an_offline_model_refuses_to_write_what_a_type_asks_for_the_page_says_so() -> None:
    source = "class Long(pydantic.BaseModel):\n    many: pydantic.conlist(int, min_length=1_000_000_000)\n\n"
    source += "class Take(dspy.Signature):\n    question: str = dspy.InputField()\n    a: Long = dspy.OutputField()\n"
    session = small(signature=SignatureText(source), columns=(Column("json", "json"), Column("chat", "chat")))
    page = seen(exported(session).text).where(case=0, wording=0, reply=0)
    assert "writes no reply of more than 10,000 values" in column(page, "replies", 0).text
    assert "[[ ## question ## ]]" in column(page, "prompts", 1).text


# -- what it may do


def test_nothing_is_loaded_and_only_the_page_s_own_style_and_script_are_allowed() -> None:
    html = example("question")[1]
    page = seen(html)
    policy = page.one("meta", http_equiv="Content-Security-Policy").attributes["content"] or ""
    for name in ("style", "script"):
        (own,) = page.all(name)
        digest = base64.b64encode(hashlib.sha256(own.text.encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ") and "unsafe" not in policy
    assert not {one.name for one in page.all()} & {
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
        "svg",
        "a",
    }
    assert "url(" not in html.partition("</style>")[0] and "@import" not in html


def test_the_script_moves_texts_only_as_text() -> None:
    script = session_page._resource("session_page.js")
    for way in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval",
        "Function(",
        "fetch",
        "XMLHttp",
        "import(",
    ):
        assert way not in script


@pytest.mark.parametrize("hostile", HOSTILE)
def test_text_of_others_is_only_text(hostile: str) -> None:
    session = small(
        f"[[ ## answer ## ]]\n{hostile}\n\n[[ ## score ## ]]\n{hostile}",
        name=hostile,
        notes=hostile,
        signature=SignatureText(
            "class Ask(dspy.Signature):\n    question: str = dspy.InputField(desc=" + ascii(hostile) + ")\n"
            "    answer: str = dspy.OutputField()\n    score: float = dspy.OutputField()\n",
            instructions=hostile,
        ),
        columns=(Column(hostile[:30], "chat"), Column("chat", "chat"), Column("xml", "xml")),
        demos=(Demo({"question": hostile, "answer": hostile, "score": 1.0}),),
    )
    session = replace(
        session,
        cases=tuple(
            [replace(one, name=f"{one.name} {hostile}", inputs={"question": hostile}) for one in session.cases]
        ),
    )
    html = exported(session).text
    page = seen(html)
    plain = seen(exported(small("[[ ## answer ## ]]\nx\n\n[[ ## score ## ]]\nx", name="x", notes="x")).text)
    assert {one.name for one in page.all()} <= {one.name for one in plain.all()}
    known = {key for one in plain.all() for key in one.attributes}
    assert {key for one in page.all() for key in one.attributes} <= known | {"open"}
    assert len(list(page.all("script"))) == len(list(page.all("style"))) == 1
    assert page.one("script").text == plain.one("script").text
    assert page.one("style").text == plain.one("style").text
    assert html.count(escaped(hostile)) > 10
    assert not UNSEEN.search(html)
    html.encode("utf-8")


def test_a_session_that_is_hostile_everywhere_is_a_page() -> None:
    page = seen(exported(hostile_session.session_of(hostile_session.SHORT)).text)
    replies = column(page.where(case=0, wording=0, reply=1), "replies", 0).text
    assert "chat parses it" in replies


def test_a_reply_of_ten_megabytes_is_cut_and_says_by_how_much() -> None:
    html = exported(small("[[ ## answer ## ]]\n" + "<b>" * 3_500_000)).text
    assert len(html) < 1_000_000
    assert re.search(r"… 10,4\d\d,\d\d\d more characters", html)


def test_many_cases_long_prompts_and_names_are_bounded_and_what_is_left_out_is_said() -> None:
    demos = tuple([Demo({"question": "so? " * 500, "answer": f"{number}", "score": 0.5}) for number in range(60)])
    cases = tuple([Case(f"case {number} " + "n" * 5_000, {"question": "why? " * 10_000}) for number in range(40)])
    made = exported(small(demos=demos, cases=cases))
    assert len(made.text) < 12_000_000
    assert "28 cases after the first 12" in made.left_out[0] and made.left_out[0] in made.text
    assert any("offline/" in one for one in made.left_out)
    assert "more messages" in made.text and "more characters" in made.text


def test_it_is_the_same_every_time() -> None:
    assert exported(small()).text == exported(small()).text


@pytest.mark.slow
@given(sessions)
def test_whatever_a_session_holds_the_page_is_whole(drawn: Session) -> None:
    ids = [one.id for one in drawn.columns] or ["chat"]
    session = replace(
        drawn,
        signature=SignatureText("question -> answer, score: float"),
        columns=tuple([Column(one, name) for one, name in zip(ids, catalog.NAMES, strict=False)]),
        cases=drawn.cases or (Case("one", {"question": "why?"}),),
    )
    html = exported(session).text
    assert {one.name for one in seen(html).all()} <= {one.name for one in seen(example("question")[1]).all()}
    assert not UNSEEN.search(html)


@pytest.mark.parametrize("name", EXAMPLES)
def test_no_heading_of_a_page_is_empty(name: str) -> None:
    text = example(name)[1] + exported(small(cases=(Case("without inputs"),))).text
    assert re.findall(r"<(h[1-6]|th|summary|legend|caption)\b[^>]*>\s*</", text) == []
    assert "<tbody></tbody>" not in text
    assert "No inputs yet." in text


def test_a_lesson_is_the_page_opened_on_its_first_step() -> None:
    session = examples.load("receipt")
    source = source_of(session, session.columns, session.cases)
    shown, lesson_page = session_page.page_of(source), forms.FORMS["lesson"].make(source)
    assert lesson_page.text.replace(' data-begins=""', "") == shown.text != lesson_page.text
    assert lesson_page.left_out == shown.left_out


def test_a_parse_error_on_the_page_names_its_cause_and_fixes() -> None:
    session = small("[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n$1.50\n\n[[ ## completed ## ]]")
    text = column(seen(exported(session).text), "replies", 0).text
    assert "has a currency" in text
    assert "fix: Add to the description of `score`" in text


def test_a_reply_to_another_prompt_or_model_is_told_beside_the_prompt() -> None:
    said = "This reply answers another prompt or model than the one shown."
    session = small("[[ ## answer ## ]]\nYes.")
    assert said not in exported(session).text
    (first, *others), reply = session.cases, session.cases[0].replies["chat"]
    case = replace(first, replies={"chat": replace(reply, request_digest="of another prompt")})
    assert exported(replace(session, cases=(case, *others))).text.count(said) == 1
