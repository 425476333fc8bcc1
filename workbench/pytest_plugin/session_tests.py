"""Collect session files as pytest nodes: a file contains cases, a case columns, a column tests.

`workbench.pytest_plugin` loads this module with the first session file. It runs in the process of other people's test
suites, so it imports neither `adapters` nor `sessions`.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from workbench.checks import fixture_files
from workbench.output import display
from workbench.output.exit_codes import CommandError
from workbench.pytest_plugin import check_child

SIZE_LIMIT = 64_000_000
"""The maximum size in bytes, as in `sessions.file.store`."""


@dataclass(frozen=True)
class Fixture:
    """A column of a case, and its available verdicts: render, parse, expect, source."""

    case: str
    column: str
    parts: tuple[str, ...]


def outline(file: Path) -> tuple[Fixture, ...] | None:
    """List the recorded and expected fixtures in file order, or None if the file is not a session."""
    try:
        if file.stat().st_size > SIZE_LIMIT:
            return None
        data = json.loads(file.read_text(encoding="utf-8-sig"))
        if "format" not in data:
            return None
        columns = [_text(one.get("id", one["adapter"])) for one in data.get("columns", ())]
        linked = ("source",) if data.get("signature", {}).get("source") is not None else ()
        found: list[Fixture] = []
        for case in data.get("cases", ()):
            name, recordings = _text(case["name"]), _object(case.get("recordings", {}))
            # A recording of a missing column is checked too: skipping it would look like a pass.
            for column in dict.fromkeys([*columns, *recordings]):
                parts: list[str] = []
                recording = recordings.get(column)
                if recording is not None:
                    parts.append("render")
                    attempts = recording.get("attempts", ())
                    completions = [one for attempt in attempts for one in attempt.get("completions", ())]
                    if any(one.get("reading") is not None for one in completions):
                        parts.append("parse")
                usual = {key: item for key, item in case.get("expect", {}).items() if key != "columns"}
                if _object(case.get("expect", {}).get("columns", {})).get(column, usual):
                    parts.append("expect")
                if parts:
                    found.append(Fixture(name, column, (*parts, *linked)))
        return tuple(found)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def _object(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Decode an object: plain, or as pairs if its keys are split into pieces."""
    if set(value) == {"$dict"}:
        return {_text(key): item for key, item in value["$dict"]}
    return value


def _text(value: Any) -> str:
    """Decode a text: plain, or split into lines or pieces. Raises TypeError for other values."""
    if isinstance(value, dict) and len(value) == 1:
        for tag, separator in (("$lines", "\n"), ("$text", "")):
            if tag in value:
                return separator.join([_text(piece) for piece in value[tag]])
    if not isinstance(value, str):
        raise TypeError("no text")
    return value


BATCHES_PER_WORKER = 4
WHOLE_FILE = "file"
LINT = "lint"
ACCEPTED = ("render", "parse")
"""The verdicts that an update records again; expectations belong to the user."""
LEFT_OUT = (
    "  --workbench-update left this out, because a verdict or value changed. `workbench review {path}` shows "
    "the reply; with -k {part}, --workbench-update records it"
)


class DriftError(Exception):
    """A verdict other than a pass, as text; shown without a traceback."""


class SessionFile(pytest.File):
    """A session file."""

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        fixtures = outline(self.path)
        if not fixtures:
            # An unreadable or empty file is a test too: skipping it would look like a pass.
            yield SessionTest.from_parent(self, name=WHOLE_FILE)
            return
        if self.config.getoption("workbench_lint"):
            yield SessionTest.from_parent(self, name=LINT)
        for case in dict.fromkeys(one.case for one in fixtures):
            of_case = [one for one in fixtures if one.case == case]
            yield CaseNode.from_parent(self, name=_shown(case), fixtures=of_case)


class CaseNode(pytest.Collector):
    """A case of a session."""

    def __init__(self, *, fixtures: Sequence[Fixture], **rest: Any) -> None:
        super().__init__(**rest)
        self._fixtures = fixtures

    def collect(self) -> Iterator[pytest.Collector]:
        for one in self._fixtures:
            yield ColumnNode.from_parent(self, name=_shown(one.column), fixture=one)


class ColumnNode(pytest.Collector):
    """A column of a case."""

    def __init__(self, *, fixture: Fixture, **rest: Any) -> None:
        super().__init__(**rest)
        self._fixture = fixture

    def collect(self) -> Iterator[pytest.Item]:
        parts = self._fixture.parts
        if "render" in parts and self.config.getoption("workbench_dspy"):
            parts = (*parts, "upstream")
        for part in parts:
            yield SessionTest.from_parent(self, name=part, fixture=self._fixture)


class SessionTest(pytest.Item):
    """A test of a verdict on a case's column, or of a whole file."""

    def __init__(self, *, fixture: Fixture | None = None, **rest: Any) -> None:
        super().__init__(**rest)
        self.fixture = fixture

    @property
    def names(self) -> tuple[str, ...]:
        """Return the words that `-k` searches: case, column and verdict."""
        return (self.name,) if self.fixture is None else (self.fixture.case, self.fixture.column, self.name)

    def runtest(self) -> None:
        checks = self.session.config.stash.setdefault(_CHECKS, _Checks(self.session))
        checked = checks.of(self.path)
        if checked.error:
            raise DriftError(checked.error)
        if self.fixture is None and self.name == LINT:
            serious = [one for one in checked.lints if one["severity"] in ("warning", "error")]
            if serious:
                raise DriftError("\n".join(f"{one['severity']} {one['name']}: {one['message']}" for one in serious))
            return
        left_out = LEFT_OUT if self.config.getoption("workbench_update") else ""
        if why_not := checks.not_updated.get(self.path):
            left_out = f"  not updated: {why_not}"
        if self.fixture is None:
            _judge(list(checked.fixtures.values()), left_out=left_out)
            return
        found = checked.fixtures.get((self.fixture.case, self.fixture.column))
        if found is None:
            raise DriftError("the file has changed since its tests were collected: run them again")
        _judge([found], self.name, left_out)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, DriftError):
            return display.safe(str(excinfo.value))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        # In a domain that ends the test's id, `pytest -v` would replace every dot: `q::session::json`.
        return self.path, None, self.nodeid.replace("::", " · ")


def chosen(items: Sequence[pytest.Item], expression: str) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Split session tests into those that `-k` selects and the others. Raises `pytest.UsageError`."""
    try:
        test = fixture_files.parse(expression)
    except CommandError as error:
        raise pytest.UsageError(str(error)) from None
    meant: list[pytest.Item] = []
    others: list[pytest.Item] = []
    for one in items:
        if isinstance(one, SessionTest):
            root = one.config.rootpath
            path = str(one.path.relative_to(root) if one.path.is_relative_to(root) else one.path)
            (meant if test(path, one.names) else others).append(one)
    return meant, others


def merge_order(
    before: Sequence[pytest.Item], left: Sequence[pytest.Item], meant: Sequence[pytest.Item]
) -> list[pytest.Item]:
    """Merge the remaining tests of others and the selected session tests in their original order.

    If another plugin reordered the others, session tests follow them.
    """
    places = {id(one): place for place, one in enumerate(before)}
    theirs = [places.get(id(one), len(before)) for one in left]
    together = [*left, *meant]
    if theirs == sorted(theirs):
        together.sort(key=lambda one: places.get(id(one), len(before)))
    return together


def _judge(fixtures: Sequence[Mapping[str, Any]], part: str | None = None, left_out: str = "") -> None:
    """Raise `DriftError` for a verdict other than a pass. Skip if nothing was judged.

    `left_out` is said of a changed verdict or value that an update did not record, or of all if it failed.
    """
    texts: list[str] = []
    words: set[str] = set()
    for one in fixtures:
        verdicts = {name: word for name, word in one["verdicts"].items() if part in (None, name)}
        words.update(verdicts.values())
        if any(word not in ("pass", "empty") for word in verdicts.values()):
            said = ", ".join(f"{name} {word}" for name, word in verdicts.items())
            texts.append(f"{one['path']}::{one['case']}::{one['column']}  {said}")
            if part in (None, "parse"):
                changes = one.get("verdict_changes", ())
                texts += [
                    f"  {f'`{named}`: ' if (named := each['field']) else ''}{each['before']} → {each['after']}"
                    for each in changes
                ]
            texts += [drift["text"] for drift in one["drift"] if part in (None, drift["verdict"])]
            if left_out and (one.get("verdict_changes") or left_out != LEFT_OUT) and part in (None, *ACCEPTED):
                texts.append(left_out.format(path=shlex.quote(one["path"]), part=part or "parse"))
    if texts:
        raise DriftError("\n".join(texts))
    if "pass" not in words:
        notes = [note for one in fixtures for note in one["notes"]] if part == "upstream" else []
        why = "; ".join(dict.fromkeys(notes))
        pytest.skip(
            display.safe(why) or "nothing recorded and nothing expected; `workbench send SESSION --save` records"
        )


@dataclass
class _Checks:
    """The checks of a test run: each file with a selected test once, in batches."""

    session: pytest.Session
    done: dict[Path, check_child.FileCheck] = field(default_factory=dict)
    not_updated: dict[Path, str] = field(default_factory=dict)
    """Why an update of a file failed."""
    _before: dict[Path, check_child.FileCheck] = field(default_factory=dict)
    """The checks of files before an update, where it depends on them."""

    def of(self, file: Path) -> check_child.FileCheck:
        """Return a file's check, made for it and those after it: all, or about a worker's share with pytest-xdist."""
        if file in self.done:
            return self.done[file]
        config = self.session.config
        all_files = list(dict.fromkeys(one.path for one in self.session.items if isinstance(one, SessionTest)))
        workers = getattr(config, "workerinput", {}).get("workercount", 0)
        size = max(1, math.ceil(len(all_files) / (workers * BATCHES_PER_WORKER))) if workers else len(all_files)
        start = all_files.index(file)
        files = [one for one in all_files[start : start + size] if one not in self.done]
        wanted = {"--dspy": config.getoption("workbench_dspy"), "--lint": config.getoption("workbench_lint")}
        options = [name for name, is_wanted in wanted.items() if is_wanted]
        if config.getoption("workbench_update"):
            self._update(files, options)
        left = [one for one in files if one not in self.done]
        self.done |= check_child.check(left, config.rootpath, options)
        return self.done[file]

    def _update(self, files: list[Path], options: list[str]) -> None:
        """Record today's prompts and parse results for the selected tests.

        A file whose tests were all selected is then done. A file that could not be updated is checked normally, as
        another pytest-xdist worker may just have updated it.
        """
        folder = self.session.config.rootpath
        chosen: dict[Path, dict[tuple[str, str], set[str]]] = {file: {} for file in files}
        for test in self.session.items:
            if isinstance(test, SessionTest) and test.fixture is not None and test.name in ACCEPTED:
                if test.path in chosen:
                    column = test.fixture.case, test.fixture.column
                    chosen[test.path].setdefault(column, set()).add(test.name)
        left = dict.fromkeys(files)
        # A process for each column takes long: files are updated together if all their tests of this name are chosen.
        for named in (ACCEPTED, ("render",), *[("parse",)] * self._names_parse()):
            whole = []
            for file in left:
                fixtures = [one for one in outline(file) or () if not set(named).isdisjoint(one.parts)]
                recorded = {(one.case, one.column): set(named) & set(one.parts) for one in fixtures}
                if chosen[file] == recorded and (recorded or named is ACCEPTED):
                    whole.append(file)
            update = "--update" if named is ACCEPTED else f"--update={named[0]}"
            checked = check_child.check(whole, folder, [update, *options]) if whole else {}
            self._note_errors(checked)
            left = {file: None for file in left if file not in whole}
            if named is ACCEPTED:
                self.done |= {file: one for file, one in checked.items() if not one.error}
        for file in left:
            for (case, column_id), parts in chosen[file].items():
                if parts == {"parse"} and not self._names_parse() and self._verdict_changed(file, case, column_id):
                    continue
                # A column named module:Class names code, which only the user may name.
                if ":" not in column_id:
                    update = "--update" if len(parts) == len(ACCEPTED) else f"--update={min(parts)}"
                    options = [update, f"--case={case}", f"--adapter={column_id}"]
                    self._note_errors(check_child.check([file], folder, options))

    def _note_errors(self, updated: Mapping[Path, check_child.FileCheck]) -> None:
        self.not_updated |= {file: one.error for file, one in updated.items() if one.error}

    def _names_parse(self) -> bool:
        """Return whether the user asks for parse tests by name; `--lf` may select nothing else, too."""
        config = self.session.config
        return "parse" in str(config.option.keyword or "") or any(one.endswith("::parse") for one in config.args)

    def _verdict_changed(self, file: Path, case: str, column: str) -> bool:
        if file not in self._before:
            self._before |= check_child.check([file], self.session.config.rootpath)
        return bool(self._before[file].fixtures.get((case, column), {}).get("verdict_changes"))


_CHECKS = pytest.StashKey[_Checks]()


def _shown(name: str) -> str:
    """Return a name as part of a test id: in a line, without control characters and `[`, where pytest ends an id."""
    shown = "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in name)
    return shown.replace("::", ":\\x3a").replace("[", "\\x5b") or "''"
