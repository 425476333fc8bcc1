"""Every feature that a user can name has a test that names it, so that whoever changes it finds what guards it."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache
from pathlib import Path

import pytest

from adapters.lint.linting import LINTS
from adapters.replies.flags.glossary import FLAGS
from workbench.bench.report import FACTS
from workbench.cli.commands import SUMMARIES, parser_of
from workbench.config.settings import KEYS
from workbench.exporting.forms import FORMS
from workbench.tui.keys import APP_BINDINGS

TESTS = Path(__file__).parent
DOCUMENTS = TESTS.parent / "docs"


TESTS_OF_A_BENCH = (
    *("sessions/bench/*.py", "workbench/bench/*.py"),
    *("workbench/cli/commands/test_bench.py", "workbench/cli/commands/test_json_keys.py"),
)
"""Keys of facts are usual words, which other tests write for other things."""


@cache
def written_by_tests(*places: str) -> frozenset[str]:
    """Each quoted string of the tests in `places` (all without any) and each word in one; this file is left out."""
    paths = {path for place in places or ("**/*.py",) for path in TESTS.glob(place)} - {Path(__file__)}
    texts = [path.read_text(encoding="utf-8") for path in paths]
    strings = {string for text in texts for string in re.findall(r'"([^"\n]+)"', text)}
    return frozenset(strings | {word for string in strings for word in re.findall(r"[\w@.+-]+", string)})


def options_of(command: str) -> list[list[str]]:
    """The spellings of every option of a command, `--help` excepted."""
    spellings = [list(action.option_strings) for action in parser_of(command)._actions if action.option_strings]
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
    ("kind", "names", "places"),
    [
        ("flags", FLAGS, ()),
        ("lints", LINTS, ()),
        ("facts of the bench", [fact.key for fact in FACTS], TESTS_OF_A_BENCH),
        ("settings", [setting.name for setting in KEYS], ()),
        ("commands", SUMMARIES, ()),
    ],
)
def test_every_feature_with_a_name_is_named_by_a_test(
    kind: str, names: Collection[str], places: tuple[str, ...]
) -> None:
    assert names
    assert sorted(set(names) - written_by_tests(*places)) == [], kind


def test_every_export_is_made_by_a_test_of_exports() -> None:
    """A quoted name would not do: an export may have the name of a library or of an ordinary word."""
    folders = (TESTS / "sessions" / "exports", TESTS / "workbench" / "exporting")
    tests = "\n".join(path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*.py"))
    untested = []
    for name, form in FORMS.items():
        module, function = form.make.__module__, form.make.__name__
        imported = rf"from {module} import (?:\([^)]*|[^\n]*)\b{function}\b"
        called = rf"\b{module.rpartition('.')[2]}\.{function}\(|FORMS\[\"{name}\"\]"
        if not re.search(f"{imported}|{called}", tests):
            untested.append(name)
    assert untested == []


def test_every_fact_of_the_bench_is_documented() -> None:
    _, _, rest = (DOCUMENTS / "json.md").read_text(encoding="utf-8").partition("\n## `bench --json`\n")
    shape = rest.partition("\n## ")[0]
    assert [fact.key for fact in FACTS if f'"{fact.key}"' not in shape] == []


def test_every_key_of_the_app_is_pressed_or_named_by_a_test() -> None:
    untested = [
        binding.id
        for binding in APP_BINDINGS
        if written_by_tests().isdisjoint({binding.id, binding.action, *binding.key.split(",")})
    ]
    assert untested == []


def test_every_documented_json_key_is_named_by_a_test() -> None:
    assert sorted(documented_json_keys() - written_by_tests()) == []
