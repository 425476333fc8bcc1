"""What is shown keeps its look inside of JupyterLab's own rules, in a real Chromium.

Needs `playwright` with a Chromium of the system; what is not there is skipped by name.
"""

from __future__ import annotations

import shutil
from typing import Any

import pytest

import adapters

pytestmark = pytest.mark.slow
CHROMIUM = next((one for one in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if one), None)
JUPYTER = """
.jp-OutputArea-output pre { border: none; margin: 0; padding: 0; word-break: break-all; white-space: pre-wrap; }
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th { vertical-align: middle; padding: 0.5em; }
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td, :not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon th,
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon tr { text-align: right; }
"""
"""Of the style sheet of JupyterLab 4, what concerns tables and texts in an output."""


def test_words_stay_whole_and_tables_begin_at_the_left() -> None:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    shown: Any = adapters.compare("ticket -> queue: str", {"ticket": "down"}, adapters=["chat"], reply="none")
    cell = f'<div class="jp-RenderedHTMLCommon jp-OutputArea-output">{shown._repr_html_()}</div>'
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.set_content(f"<style>{JUPYTER}</style>{cell}")
        look = "one => [getComputedStyle(one).wordBreak, getComputedStyle(one).textAlign]"
        assert page.locator("pre").first.evaluate(look)[0] == "normal"
        for sign in ("th", "td"):
            assert page.locator(sign).first.evaluate(look)[1] == "left"
        browser.close()
