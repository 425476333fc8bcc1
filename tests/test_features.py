"""Every feature that a user can name has a test that names it, so that whoever changes it finds what guards it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

import pytest

from adapters.lint.linting import LINTS
from adapters.replies.flags.glossary import FLAGS
from workbench.bench.report import FACTS
from workbench.cli.arguments import Parser
from workbench.cli.commands import SUMMARIES, load
from workbench.config.settings import KEYS
from workbench.exporting.forms import FORMS
from workbench.tui.keys import APP_BINDINGS

TESTS = Path(__file__).parent
DOCUMENTS = TESTS.parent / "docs"


@cache
def written_by_tests() -> frozenset[str]:
    """Each quoted string of the tests and each word in one; this file is left out."""
    texts = [path.read_text(encoding="utf-8") for path in TESTS.rglob("*.py") if path != Path(__file__)]
    strings = {string for text in texts for string in re.findall(r'"([^"\n]+)"', text)}
    return frozenset(strings | {word for string in strings for word in re.findall(r"[\w@.+-]+", string)})


def options_of(command: str) -> list[list[str]]:
    """The spellings of every option of a command, `--help` excepted."""
    parser: argparse.ArgumentParser = Parser(f"workbench {command}", "")
    load(command).add_arguments(parser)
    spellings = [list(action.option_strings) for action in parser._actions if action.option_strings]
    return [names for names in spellings if "--help" not in names]


def documented_json_keys() -> set[str]:
    """Every key that docs/json.md names in a shape: a name before a colon, a comma or a brace, or in quotes."""
    text = (DOCUMENTS / "json.md").read_text(encoding="utf-8")
    shapes = re.findall(r"```\n(.*?)```", text, re.DOTALL)
    return {key for shape in shapes for key in re.findall(r'"(\w+)"', shape)}


@pytest.mark.parametrize("command", SUMMARIES)
def test_every_option_of_a_command_is_named_by_a_test(command: str) -> None:
    assert [names for names in options_of(command) if written_by_tests().isdisjoint(names)] == []


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("flags", FLAGS),
        ("lints", LINTS),
        ("export forms", FORMS),
        ("facts of the bench", [fact.key for fact in FACTS]),
        ("settings", [setting.name for setting in KEYS]),
        ("commands", SUMMARIES),
    ],
)
def test_every_feature_with_a_name_is_named_by_a_test(kind: str, names: Collection[str]) -> None:
    assert names
    assert sorted(set(names) - written_by_tests()) == [], kind


def test_every_key_of_the_app_is_pressed_or_named_by_a_test() -> None:
    untested = [
        binding.id
        for binding in APP_BINDINGS
        if written_by_tests().isdisjoint({binding.id, binding.action, *binding.key.split(",")})
    ]
    assert untested == []


def test_every_documented_json_key_is_named_by_a_test() -> None:
    assert sorted(documented_json_keys() - written_by_tests()) == []
