"""Signatures, prompts and readings show themselves in Jupyter, marimo and IPython."""

from __future__ import annotations

from typing import get_args

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adapters
from adapters.display import as_html, as_text
from adapters.display.as_html import GROUNDS, LOOKS, written
from adapters.display.blocks import DATA, Difference, Folded, Heading, Items, Mark, Note, Passage, Piece, Shown, Table
from adapters.formats import catalog
from adapters.prompts.text import KINDS
from adapters.replies.reading import SpanKind
from tests.support.notebook_cell import HOSTILE, STEERS, cell_of, plain_of
from workbench.output import markdown

TRIAGE = "ticket, plan: Literal['free', 'paid'] -> queue: str, urgent: bool"
GIVEN = {"ticket": "It is down!", "plan": "paid"}


def test_a_prompt_is_shown_whole_each_piece_in_its_colour_and_with_what_made_it() -> None:
    prompt = adapters.render(TRIAGE, GIVEN)
    page = cell_of(prompt)
    for message in prompt.as_dicts():
        assert message["content"] in page.text
    assert [("class", "k-value"), ("title", "value of ticket")] in page.attributes


def test_a_reading_shows_verdict_pieces_values_steps_and_flags() -> None:
    reading = adapters.read(TRIAGE, '{"queue": "billing", "urgent": "yes"}', adapter="json")
    text = cell_of(reading).text
    assert "✓ json parses it" in text and '"billing"' in text and reading.completion in text
    assert reading.flags and all(flag.message in text for flag in reading.flags)


def test_a_refused_reply_says_by_whom_and_why() -> None:
    reading = adapters.read(TRIAGE, "<queue>billing</queue>", adapter="xml")
    assert reading.error is not None
    assert "✗ xml: parse error" in plain_of(reading) and reading.error.type in plain_of(reading)


def test_a_run_shows_every_attempt_with_its_reply() -> None:
    """As docs/library.md says of all that it names."""
    run = adapters.run(TRIAGE, GIVEN, model="offline/refusal", fallback=True)
    text = plain_of(run)
    assert run.error is not None and text.lstrip().startswith(f"✗ {run.error}")
    assert "1. chat → offline/refusal" in text and "2. json → offline/refusal" in text and "fallback" in text
    assert cell_of(run).text.count(run.attempts[0].completions[0].text) == 2


def test_a_run_without_a_reading_shows_the_reply_as_it_came_or_the_error() -> None:
    raw = adapters.run(TRIAGE, {"ticket": HOSTILE, "plan": "paid"}, raw=True)
    page = cell_of(raw)
    assert "[[ ## queue ## ]]" in page.text and "script" not in page.names and not STEERS & set(page.text)
    missing = adapters.run(TRIAGE, GIVEN, deadline_s=0)
    assert missing.attempts == () and str(missing.error) in plain_of(missing)


def test_a_signature_shows_its_fields_with_their_types() -> None:
    text = plain_of(adapters.read_signature(TRIAGE))
    assert "Literal['free', 'paid']" in text and "ticket" in text and "urgent" in text


def test_a_live_predict_is_compared_under_every_adapter_in_one_line() -> None:
    predict = dspy.Predict("ticket -> queue")
    predict.demos = [dspy.Example(ticket="The invoice is wrong", queue="billing")]
    found = adapters.compare(predict, {"ticket": "It is down!"}, reply='{"queue": "ops"}')
    assert list(found.sides) == [*catalog.NAMES]
    for name, theirs in (("chat", dspy.ChatAdapter()), ("json", dspy.JSONAdapter()), ("xml", dspy.XMLAdapter())):
        ours = found[name].prompt
        assert ours is not None
        assert ours.as_dicts() == theirs.format(predict.signature, predict.demos, {"ticket": "It is down!"})
    text = cell_of(found).text
    assert text.count("It is down!") == len(catalog.NAMES)
    assert "The invoice is wrong" in text and "✓ json parses it" in text


def test_what_one_adapter_cannot_render_stands_in_its_place_and_the_others_are_shown() -> None:
    source = """
class Part(BaseModel):
    name: str
    parts: list["Part"]

class Take(dspy.Signature):
    note: str = dspy.InputField()
    part: Part = dspy.OutputField()
"""
    found = adapters.compare(source, {"note": "a"})
    assert found["baml"].prompt is None and "recursive" in cell_of(found).text
    assert found["chat"].prompt is not None


@pytest.mark.parametrize("name", ["nothing", "module:Class"])
def test_an_adapter_that_there_is_not_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        adapters.compare(TRIAGE, GIVEN, adapters=[name])


def test_text_of_others_is_only_text_in_html_and_steers_no_terminal() -> None:
    prompt = adapters.render("ticket -> queue", {"ticket": HOSTILE})
    reading = adapters.read("ticket -> queue", f"[[ ## queue ## ]]\n{HOSTILE}")
    for one in (prompt, reading):
        page = cell_of(one)
        assert "script" not in page.names and "<script>alert(1)</script>" in page.text
        assert {key for one in page.attributes for key, _ in one} <= {"class", "title", "scope", "tabindex"}
        assert not STEERS & set(page.text + plain_of(one))


@given(st.lists(st.tuples(st.text(), st.sampled_from(sorted(LOOKS)), st.text()), max_size=6), st.text())
def test_any_text_makes_whole_html_and_lines(pieces: list[tuple[str, str, str]], title: str) -> None:
    passage = Passage(title, tuple([Piece(*one) for one in pieces]))
    shown = Shown(title, (passage, Note(title), Table((title, "b"), ((title, title),))))
    assert as_html.cell(shown).count("<pre>") == as_html.cell(shown).count("</pre>") == 1
    assert not STEERS & set("".join(as_text.lines(shown)))


def test_a_long_reply_is_cut_and_says_by_how_much() -> None:
    reading = adapters.read("ticket -> queue", "[[ ## queue ## ]]\n" + "long " * 2_000_000)
    html = reading._repr_html_()
    assert len(html) < 200_000
    assert "more characters" in html and "more characters" in plain_of(reading)


def test_an_image_is_a_line_and_not_its_bytes() -> None:
    url = "data:image/png;base64," + "iVBOR" * 1_000
    prompt = adapters.render("image: dspy.Image -> label", {"image": {"url": url}})
    assert "image_url" in plain_of(prompt)
    assert url not in cell_of(prompt).text


def test_every_kind_of_piece_has_a_colour() -> None:
    assert set(LOOKS) == {*KINDS, DATA}
    assert set(GROUNDS) == set(get_args(SpanKind))


def grid_of(columns: int, rows: int, name: str = "a column of a long name ") -> Table:
    cells = tuple([(f"row {row}", *["✓ 3/3"] * columns) for row in range(rows)])
    return Table(("", *[f"{name}{column}" for column in range(columns)]), cells, is_grid=True)


@pytest.mark.parametrize(
    ("columns", "rows", "first"),
    [
        (3, 20, f"        {'  '.join(f'a column of a long name {one}' for one in range(3))}"),
        (20, 3, f"{' ' * 25}   row 0  row 1  row 2"),
        (9, 12, "  1  a column of a long name 0"),
        (60, 60, "60 × 60 cells: too many for a text; a page shows them"),
    ],
)
def test_a_grid_fits_its_width_turned_or_numbered_where_that_helps(columns: int, rows: int, first: str) -> None:
    lines = list(as_text.lines(Shown("", (grid_of(columns, rows),))))
    assert lines[0] == first
    assert max(map(len, lines)) <= as_text.WIDEST


def test_a_difference_below_an_open_title_is_written_for_every_reader() -> None:
    inside = (Difference((" a", "-<b>", "+c")), Folded(Mark("1 fixture"), (Items(("one",)),)))
    shown = Folded(Mark("2. It's `so`", "bad"), inside, "change-2", is_open=True)
    html = written(as_html.element(shown))
    assert '<details open=""><summary><span class="tag bad">2. It\'s `so`</span></summary><div id="change-2">' in html
    assert ' a\n<span class="bad">-&lt;b&gt;\n</span><span class="good">+c\n</span></pre>' in html
    lines = list(as_text.toned_lines(Shown("", (shown,))))
    assert lines[1:4] == [("2. It's `so`", "bad"), ("      a", ""), ("     -<b>", "bad")]
    assert markdown.document([shown]).split("\n")[:3] == ["### 2. `` It's `so` ``", "", "```diff"]
    whole = markdown.bounded("", [[shown]], "")
    assert whole.endswith("<details><summary>1 fixture</summary>\n\n- `one`\n\n</details>\n")


def test_blocks_are_written_alike_for_every_reader() -> None:
    shown = (
        Heading("Cells"),
        Table(("", "a|b"), (("<i>", Mark("1/2", "bad", "why", "cell-0")),), is_grid=True),
        Items((Mark("`one`", link="cell-0"), "two")),
        Folded(Mark("Reply", "good"), (Passage("", (Piece("<b>", "value"),)),), "cell-0"),
    )
    html = "".join(written(as_html.element(one)) for one in shown)
    assert '<td class="bad cell" title="why"><a href="#cell-0">1/2</a></td>' in html
    assert '<details><summary><span class="tag good">Reply</span></summary><div id="cell-0">' in html
    assert "<pre>\n" in html and "&lt;b&gt;" in html
    text = list(as_text.lines(Shown("", shown)))
    assert text == ["", "Cells", "     a|b", "<i>  1/2", "`one`", "two", "… Reply"]
    assert markdown.document(shown).split("\n") == [
        *("### Cells", "", "|  | `a\\|b` |", "| --- | --- |", "| `<i>` | 1/2 |", ""),
        *("- `` `one` ``", "- `two`", "", "… Reply", "", ""),
    ]
