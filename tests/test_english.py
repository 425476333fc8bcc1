"""Checks the patterns of plain English: docstrings, names, and every sentence that a user reads.

The rules catch patterns that readers have to decode. Where a rule would forbid a good sentence, change the rule.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from workbench.cli.commands import SUMMARIES
from workbench.tui.keys import APP_BINDINGS

ROOT = Path(__file__).parents[1]
PACKAGES = ("adapters", "sessions", "workbench")
NOT_FOR_USERS = (
    "adapters/lm/offline/source.py",
    "sessions/exports/template.py",
    "workbench/output/json_shapes.py",
    "workbench/sending/suggesting.py",
)
"""Files whose texts are for models, or are keys and values of JSON."""

MOST_ONES_PER_1000_WORDS = 9.5
MOST_PREPOSITION_NAMES = 225
"""Today's figures, which may only fall; 5 and 120 are the goal."""

QUESTION = re.compile(r"^\W*(What|How|Where|Which|Who|Whose|Whatever|Of)\b")
PREPOSITION = re.compile(
    r"^_*(of|by|in|with|without|within|from|to|into|at|as|for|under|over|after|before|beside|besides|between|behind"
    r"|below|above|about|against|along|among|around|beyond|during|per|since|than|through|until|upon|across|toward)_"
)
USUAL_NAMES = re.compile(
    r"^_*(with_(instructions|updated_fields|metadata|callbacks|config)|from_\w+|to_\w+|as_\w+|for_each)$"
)
STILTED = [
    r"\banew\b",
    r"\bmend(s|ed|ing)?\b",
    r"(?<!there )\b(is|are|was|were) no (?!longer\b|more\b|such\b)[a-z]",
    r"\bnothing (but|of (it|its|the|this|them|yours|his|all|what|that))\b",
    r"\botherwise than\b",
    r"\bin the place of\b",
    r"\bfor right\b",
    r"\b(stands?|stood) (on|in|at|here|there|beside|below|above|under|behind|after|before|apart)\b",
    r"\bas it stands\b",
    r"\bwithout a word\b",
    r"\bone would (think|expect|say)\b",
    r"\b(can|could|cannot|may) be had\b",
    r"\b(is|was|are|were) (said|typed|made|left|remembered) of\b",
    r"\bmakes? of (it|them|its)\b",
    r"\bfurther columns\b",
    r"\bmay be concluded\b",
    r"\bwhat goes out\b",
    r"\bgo(es|ing)? along\b",
    r"\bof his own\b",
    r"\b(he|his|him)\b",
    r"\bmistake of ours\b",
    r"\btold of\b",
    r"\bis tried beside\b",
]
IMPERATIVES = re.compile(
    r"^(add|append|ask|cancel|check|choose|clear|close|compare|copy|create|damage|delete|discard|edit|explain|export"
    r"|find|focus|follow|forget|go|import|insert|inspect|install|jump|leave|list|make|maximi[sz]e|merge|move|open|parse"
    r"|paste|preview|print|quit|record|redo|rename|reset|restore|review|run|save|search|send|serve|set|show|step|stop"
    r"|stress-test|switch|test|toggle|undo|unfold|update|use|write|accept|reject|convert|generate|manage|render|freeze)\b",
    re.IGNORECASE,
)


class Docstring(NamedTuple):
    place: str
    text: str


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def modules() -> dict[str, ast.Module]:
    files = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return {str(path.relative_to(ROOT)): ast.parse(read(path)) for path in files}


@cache
def docstrings() -> list[Docstring]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [
        Docstring(f"{path}:{getattr(node, 'lineno', 1)}", text)
        for path, module in modules().items()
        for node in ast.walk(module)
        if isinstance(node, kinds) and (text := ast.get_docstring(node))
    ]


def function_names() -> set[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for module in modules().values() for node in ast.walk(module) if isinstance(node, functions)}


@cache
def texts_for_users() -> list[tuple[str, str]]:
    return list(found_texts())


def found_texts() -> Iterator[tuple[str, str]]:
    """Yield each sentence of the documents, the pages and the screen, with its place."""
    documents = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "workbench/tui/help.md"]
    for path in [*documents, *sorted(ROOT.glob("workbench/**/*.js"))]:
        text = re.sub(r"```.*?```|`[^`\n]*`", lambda code: "\n" * code[0].count("\n"), read(path), flags=re.DOTALL)
        for number, line in enumerate(text.splitlines(), 1):
            yield f"{path.relative_to(ROOT)}:{number}", line
    for name, module in modules().items():
        if name.startswith("workbench/cli/commands/"):
            yield f"{name}:1", ast.get_docstring(module) or ""  # the text of `--help`
        if name not in NOT_FOR_USERS:
            statements = [node.value for node in ast.walk(module) if isinstance(node, ast.Expr)]
            described = {id(value) for value in statements if isinstance(value, ast.Constant)}
            for node in ast.walk(module):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in described:
                    yield f"{name}:{node.lineno}", node.value


def test_no_docstring_opens_with_a_question_word() -> None:
    assert [place for place, text in docstrings() if QUESTION.match(text)] == []


def test_the_first_line_of_a_docstring_fits_its_line() -> None:
    assert [place for place, text in docstrings() if len(text.splitlines()[0]) > 120] == []


def test_docstrings_name_things_instead_of_saying_one() -> None:
    words = [word.lower() for _, text in docstrings() for word in re.findall(r"[A-Za-z']+", text)]
    assert 1000 * words.count("one") / len(words) <= MOST_ONES_PER_1000_WORDS


def test_few_function_names_begin_with_a_preposition() -> None:
    names = sorted(name for name in function_names() if PREPOSITION.match(name) and not USUAL_NAMES.match(name))
    assert len(names) <= MOST_PREPOSITION_NAMES, names


@pytest.mark.parametrize("pattern", STILTED)
def test_no_sentence_for_users_has_a_pattern_that_readers_must_decode(pattern: str) -> None:
    assert [place for place, text in texts_for_users() if re.search(pattern, text, re.IGNORECASE)] == []


def test_a_summary_begins_with_an_imperative() -> None:
    summaries = [*SUMMARIES.values(), *(binding.tooltip for binding in APP_BINDINGS)]
    assert [one for one in summaries if not IMPERATIVES.match(one)] == []
