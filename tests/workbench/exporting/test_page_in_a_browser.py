"""The page in a real Chromium, opened from disk: it runs, asks nobody for anything, and everyone can use it.

Needs `playwright` with a Chromium of the system; the look at its accessibility needs axe-core, whose `axe.min.js` the
variable AXE_CORE names. What is not there is skipped by name.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sessions import examples
from sessions.exports.exported import source_of
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Session, SignatureText
from workbench.exporting import session_page

pytestmark = pytest.mark.slow
CHROMIUM = next((one for one in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if one), None)
QUIET = [f"--{one}" for one in ("no-sandbox", "disable-gpu", "disable-background-networking", "disable-sync")]
HOSTILE = "<script>document.title='ran'</script></style></pre><img src=x onerror=\"document.title='ran'\">{{7*7}}\u202e"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield started
        started.close()


class Opened:
    """A page with all it asked for and complained of."""

    def __init__(self, browser: Any, path: Path, session: Session, **look: Any) -> None:
        made = session_page.page_of(source_of(session, session.columns, session.cases))
        path.write_bytes(made.text.encode())
        self.context = browser.new_context(**look)
        self.page = self.context.new_page()
        self.asked: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda one: self.asked.append(one.url))
        self.page.on("pageerror", lambda one: self.errors.append(str(one)))
        self.page.on("console", lambda one: self.errors.append(one.text) if one.type == "error" else None)
        self.page.goto(path.as_uri())
        self.address = path.as_uri()

    def close(self) -> None:
        """Fails for a request besides the page itself, an error, and a page that is wider than its window."""
        assert self.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert self.asked == [self.address]
        assert self.errors == []
        self.context.close()

    def count(self, selector: str) -> int:
        """How many of these are to be seen."""
        return int(self.page.locator(selector).filter(visible=True).count())


PHONE = {"width": 390, "height": 844}
LAPTOP = {"width": 1366, "height": 768}
PROJECTOR = {"width": 1920, "height": 1080}


@pytest.mark.parametrize("name", examples.ALL)
@pytest.mark.parametrize("size", [PHONE, LAPTOP, PROJECTOR])
def test_it_opens_from_disk_asks_for_nothing_and_fits(
    name: str, size: dict[str, int], browser: Any, tmp_path: Path
) -> None:
    opened = Opened(browser, tmp_path / "page.html", examples.load(name), viewport=size)
    assert opened.count("#prompts pre.pieces") >= 6
    widths = (
        opened.page.locator("#lesson dd").filter(visible=True).evaluate_all("some => some.map(one => one.clientWidth)")
    )
    assert min(widths) > 200  # a value stands in a block of its own where there is no room beside its name
    opened.close()


def test_the_fields_of_a_signature_fit_on_a_phone(browser: Any, tmp_path: Path) -> None:
    text = "a_rather_long_name_of_a_field: list[str], text -> departments_of_the_company: dict[str, list[int]]"
    session = Session(SignatureText(text), columns=(Column("chat", "chat"),), cases=(Case("one", {"text": "t" * 99}),))
    opened = Opened(browser, tmp_path / "page.html", session, viewport=PHONE)
    cells = opened.page.locator("#signature td, #signature tbody th").filter(visible=True)
    assert max(cells.evaluate_all("some => some.map(one => one.getBoundingClientRect().right)")) <= 390
    opened.close()


def test_the_keyboard_walks_pieces_that_light_up_in_every_column_and_are_named(browser: Any, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path / "page.html", examples.load("question"), viewport=LAPTOP)
    page = opened.page
    page.locator("#prompts pre.pieces").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.evaluate("new Set([...document.querySelectorAll('.lit')].map(one => one.closest('.column'))).size") == 3
    assert "name of context · system — in chat, json, xml" in page.locator("#said").text_content()
    page.keyboard.press("Escape")
    assert opened.count(".lit") == 0
    opened.close()


def test_cases_types_and_replies_are_switched_and_stay_in_step(browser: Any, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path / "page.html", examples.load("question"), viewport=LAPTOP)
    page = opened.page
    page.get_by_role("radio", name="allowance with breakfast (as in demo 3)").check()
    assert page.get_by_text("Inputs of allowance with breakfast").is_visible()
    page.get_by_label("Reply of").select_option("offline/truncated")
    assert page.locator("#replies .column").nth(2).get_by_text("✗ xml: parse error").filter(visible=True).count() == 1
    before = page.locator("#prompts .column").first.inner_text()
    page.get_by_role("radio", name="sections: list[str] → str").check()
    assert page.locator("#prompts .column").first.inner_text() != before
    opened.close()


def test_the_lesson_goes_step_by_step_by_keys_alone(browser: Any, tmp_path: Path) -> None:
    opened = Opened(browser, tmp_path / "page.html", examples.load("receipt"), viewport=PROJECTOR)
    page = opened.page
    page.get_by_role("button", name="Step by step").press("Enter")
    titles = [page.locator("#step-title").text_content()]
    while page.locator("#next").is_enabled():
        page.keyboard.press("ArrowRight")
        titles.append(page.locator("#step-title").text_content())
        assert page.locator("#step-words").text_content()
    assert titles[0] == "The fields" and titles[-1] in ("✓ Parsed", "✗ Parse error")
    assert len(titles) == opened.count("#lesson .steps > li")
    page.keyboard.press("Escape")
    assert opened.count("#panel") == 0
    opened.close()


def test_a_hostile_session_runs_nothing(browser: Any, tmp_path: Path) -> None:
    reply = f"[[ ## answer ## ]]\n{HOSTILE}" + "x" * 10_000_000
    session = Session(
        name=HOSTILE,
        notes=HOSTILE,
        signature=SignatureText("question -> answer", instructions=HOSTILE),
        columns=(Column(HOSTILE, "chat"), Column("chat", "chat")),
        cases=(
            Case(
                HOSTILE,
                {"question": HOSTILE},
                replies={"chat": Reply(reply)},
            ),
            Case("second", {"question": "?"}),
        ),
    )
    opened = Opened(browser, tmp_path / "page.html", session, viewport=LAPTOP)
    page = opened.page
    page.locator("#begin").click()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    page.get_by_role("radio", name="second").check(force=True)
    page.locator("#prompts pre.pieces").filter(visible=True).first.press("ArrowRight")
    assert page.title().startswith("<script>")
    assert page.locator("img, script").count() == 1
    opened.close()


@pytest.mark.parametrize("name", examples.ALL)
def test_axe_finds_nothing(name: str, browser: Any, tmp_path: Path) -> None:
    axe = os.environ.get("AXE_CORE")
    if axe is None:
        pytest.skip("AXE_CORE does not name an axe.min.js")
    opened = Opened(browser, tmp_path / "page.html", examples.load(name), viewport=LAPTOP)
    for action in ("", "dark", "begin", "next", "big", "light"):
        if action in ("light", "dark"):
            opened.page.emulate_media(color_scheme=action)
        elif action:
            opened.page.locator(f"#{action}").click()
        # through the debugger, whose scripts the page's own policy does not bind
        found = "axe.run().then(one => JSON.stringify(one.violations.map(all => [all.id, all.nodes[0].html])))"
        run = f"{Path(axe).read_text()};{found}"
        debugger = opened.context.new_cdp_session(opened.page)
        answer = debugger.send("Runtime.evaluate", {"expression": run, "awaitPromise": True, "returnByValue": True})
        assert json.loads(answer["result"]["value"]) == []
    opened.close()
