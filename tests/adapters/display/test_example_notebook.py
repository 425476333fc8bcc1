"""The example notebook runs in IPython itself, and each of its cells shows something; it says what its page says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.formats import catalog
from tests.support.notebook_cell import Cell

DOCS = Path(__file__).parents[3] / "docs"
NOTEBOOK: dict[str, Any] = json.loads((DOCS / "example.ipynb").read_text(encoding="utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


@pytest.fixture(scope="module")
def shown() -> list[dict[str, Any]]:
    """What IPython hands the notebook for each cell."""
    from IPython.core.interactiveshell import InteractiveShell  # seconds of imports

    shell = InteractiveShell()
    found: list[dict[str, Any]] = []
    for source in CODE:
        result = shell.run_cell(source)
        result.raise_error()
        found.append(shell.display_formatter.format(result.result)[0])
    return found


def test_every_cell_shows_html_and_plain_text(shown: list[dict[str, Any]]) -> None:
    assert len(shown) == len(CODE) > 2
    for bundle in shown:
        assert Cell(bundle["text/html"]).text
        assert len(bundle["text/plain"].splitlines()) > 3


def test_a_comparison_shows_every_adapter_and_a_reply_its_verdicts(shown: list[dict[str, Any]]) -> None:
    _, every, with_reply = shown
    assert every["text/html"].count("It is down!") == len(catalog.NAMES)
    assert "✓ json parses it" in with_reply["text/plain"]


def test_the_notebook_has_the_code_of_its_page() -> None:
    page = (DOCS / "notebook.md").read_text(encoding="utf-8")
    assert [source for source in CODE if f"```python\n{source}\n```" not in page] == []
    assert page.count("```python") == len(CODE)
