"""A page opens from disk, runs nothing, loads nothing, and shows text of others as text."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from adapters.display.as_html import element, escaped, tag, written
from adapters.display.blocks import Table
from workbench.pages.page import folded, page, table

HOSTILE = (
    "<script>alert(1)</script>",
    "</pre></details><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)',
    "&lt;b&gt; &#60;script&#62;",
    "</style><style>*{display:none}",
    "<!-- ",
    "]]>",
    "\x1b[31mred\x1b[0m\x00\x85",
    "\u202egpj.exe\u2066",
    "\ud800 alone",
    "{{ 1 }} ${2} `3`",
)


class Read(HTMLParser):
    """A page as a browser's parser sees it: its elements with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.depth = 0
        self.feed(html)
        self.close()

    def handle_starttag(self, name: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((name, dict(attributes)))
        self.depth += name not in ("meta", "br", "hr", "col")

    def handle_endtag(self, name: str) -> None:
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("hostile", HOSTILE)
def test_text_of_others_is_text_wherever_it_stands(hostile: str) -> None:
    rows = [[hostile, hostile, tag("td", {"class": "good", "title": hostile}, hostile)]]
    html = page(hostile, [table([hostile], rows), folded(hostile, tag("pre", {}, hostile))])
    plain = page("x", [table(["x"], [["x", "x", tag("td", {"class": "good", "title": "x"}, "x")]])])
    plain_and_folded = [*[name for name, _ in Read(plain).elements], "details", "summary", "pre"]
    found = Read(html)
    assert sorted(name for name, _ in found.elements) == sorted(plain_and_folded)
    assert not any(key.startswith("on") for _, attributes in found.elements for key in attributes)
    assert found.depth == 0
    html.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", html)


def test_what_was_written_is_read_again_character_by_character() -> None:
    content = "a < b & c > d \"quoted\" 'single' ü 漢 👩\n  two\n\nlines &amp;"
    assert Read(written(tag("pre", {}, content))).text.removeprefix("\n") == content
    assert Read(written(tag("td", {"title": content}))).elements[0][1]["title"] == content


def test_what_cannot_be_seen_is_made_visible() -> None:
    assert escaped("a\x1bb\u202ec\ud800") == "a␛b⟨U+202E⟩c⟨U+D800⟩"


def test_nothing_is_loaded_and_nothing_runs() -> None:
    html = page("A title", ["body"])
    elements = Read(html).elements
    names = {name for name, _ in elements}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "base", "form", "svg"}
    assert not any(key in ("src", "style") for _, attributes in elements for key in attributes)
    assert "url(" not in html
    assert "@import" not in html
    policy = next(one["content"] for _, one in elements if one.get("http-equiv") == "Content-Security-Policy")
    style = html.partition("<style>")[2].partition("</style>")[0]
    allowed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy is not None
    assert policy.startswith("default-src 'none'; ")
    assert f"style-src 'sha256-{allowed}'" in policy
    assert "unsafe" not in policy


def test_a_page_is_for_light_dark_paper_phone_and_projector() -> None:
    html = page("A title", [])
    for needed in ("prefers-color-scheme: dark", "@media print", "max-width: 40rem", 'name="viewport"', "clamp("):
        assert needed in html


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("script", {}),
        ("style", {}),
        ("iframe", {}),
        ("td><script", {}),
        ("a", {"href": "javascript:alert(1)"}),
        ("a", {"href": "https://example.org/"}),
        ("td", {"onclick": "x"}),
        ("td", {"style": "x"}),
        ("td", {'class="x" onclick': "x"}),
    ],
)
def test_what_would_run_or_load_cannot_be_written(name: str, attributes: dict[str, str]) -> None:
    with pytest.raises(ValueError):
        tag(name, attributes)


def test_places_on_the_page_can_be_gone_to_and_cells_have_their_headings() -> None:
    html = written(table(["case", "chat"], [["one", tag("a", {"href": "#c1"}, "✓")]]))
    assert '<a href="#c1">✓</a>' in html
    assert '<th scope="row">one</th>' in html
    assert html.count('<th scope="col">') == 2
    assert "<details open" in written(folded("more", "x", is_open=True))


def test_an_empty_corner_of_a_table_is_no_heading() -> None:
    """axe-core: `empty-table-header`."""
    html = written(table(["", "chat"], [["good", "100 %"]]))
    assert html.count('<th scope="col">') == 1 and "<tr><td></td><th" in html
    html = written(element(Table(("", "chat"), (("good", "100 %"),), is_grid=True)))
    assert html.count('<th scope="col">') == 1 and "<tr><td></td><th" in html


def test_ten_megabytes_of_one_reply_are_written() -> None:
    html = page("long", [tag("pre", {}, "<&>" * 3_000_000)])
    assert html.count("&lt;&amp;&gt;") == 3_000_000


def test_a_long_title_of_details_stands_beside_its_marker() -> None:
    assert "summary .tag { display: inline; }" in page("A page", [])
