"""The pytest plugin in other people's projects, which have packages called `adapters` and `sessions` of their own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import venv
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from sessions.file import store
from tests.workbench.conftest import Run
from workbench.__main__ import main
from workbench.pytest_plugin import check_child, session_tests

ROOT = Path(__file__).parents[3]
PACKAGES = ("adapters", "sessions", "workbench")
ENTRY_POINTS = "[pytest11]\nworkbench = workbench.pytest_plugin\n"
METADATA = "Metadata-Version: 2.1\nName: adapter-workbench\nVersion: 0.1.0\n"
LEFT_OUT = [word for name in ("cacheprovider", "hypothesispytest", "anyio", "asyncio") for word in ("-p", f"no:{name}")]
"""Plugins of our own environment that have no part in this and take a second to load."""
THEIR_TEST = """
import sys
import adapters
import sessions.deeper

def test_these_are_ours():
    assert adapters.OWNER == sessions.deeper.OWNER == "this project"

def test_nothing_of_the_workbench_engine_is_loaded():
    theirs = {name for name in sys.modules if name.partition(".")[0] in ("adapters", "sessions")}
    assert theirs == {"adapters", "sessions", "sessions.deeper"}
"""


@dataclass(frozen=True)
class Installed:
    """An environment with the workbench in it, and pytest from ours."""

    python: Path
    script: Path


@dataclass(frozen=True)
class Outcome:
    """What a run of pytest said, by test id."""

    code: int
    text: str

    def ids(self, word: str) -> set[str]:
        return set(re.findall(rf"^{word} (.*?)(?: - .*)?$", self.text, re.MULTILINE))

    @property
    def summary(self) -> str:
        return re.sub(r" in [\d.]+s.*| =+|=+ ", "", self.text.rstrip().rpartition("\n")[2])


def install(folder: Path, *, editable: bool) -> Installed:
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    found = [sys.executable, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = next((folder / "lib").glob("python*")) / "site-packages"
    shared = Path(subprocess.run(found, capture_output=True, text=True, check=True).stdout.strip())
    lines = [str(shared)]
    if editable:
        lines.insert(0, str(ROOT))
    else:
        for package in PACKAGES:
            (site / package).symlink_to(ROOT / package)
    (site / "here.pth").write_text("\n".join(lines) + "\n")
    info = site / "adapter_workbench-0.1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    (info / "METADATA").write_text(METADATA)
    script = folder / "bin" / "pytest"
    script.write_text("import sys\nfrom pytest import console_main\nsys.exit(console_main())\n")
    return Installed(python, script)


@pytest.fixture(scope="module")
def editable(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(tmp_path_factory.mktemp("editable"), editable=True)


Pytest = Callable[..., Outcome]


@pytest.fixture
def run_pytest(editable: Installed, project: Path) -> Pytest:
    """Runs `pytest` in the project, or with `as_module` `python -m pytest`."""

    def run(*words: str, as_module: bool = False, by: Installed = editable, **variables: str) -> Outcome:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON"))}
        command = [str(by.python), *(["-m", "pytest"] if as_module else [str(by.script)])]
        done = subprocess.run(
            [*command, "-rA", *LEFT_OUT, *words],
            cwd=project,
            env={**kept, **variables},
            capture_output=True,
            text=True,
        )
        return Outcome(done.returncode, done.stdout + done.stderr)

    return run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with its own `adapters` and `sessions`, tests of these, and one recorded session in a folder."""
    folder = tmp_path / "project"
    (folder / "sessions").mkdir(parents=True)
    (folder / "prompts").mkdir()
    (folder / "adapters.py").write_text("OWNER = 'this project'\n")
    (folder / "sessions" / "__init__.py").write_text("")
    (folder / "sessions" / "deeper.py").write_text("OWNER = 'this project'\n")
    (folder / "test_theirs.py").write_text(THEIR_TEST)
    (folder / "pytest.ini").write_text("[pytest]\n")
    monkeypatch.chdir(folder / "prompts")
    signature = "note -> total: float, currency"
    new = ["new", signature, "-o", "invoice.session.json", "--input", "note=12 EUR", "--instructions", "Read the note."]
    assert main(new) == 0
    assert main(["send", "invoice.session.json", "--save"]) == 0
    return folder


def all_ids(file: str = "prompts/invoice.session.json") -> set[str]:
    return {f"{file}::case 1::{column}::{part}" for column in ("chat", "json", "xml") for part in ("render", "parse")}


def change_instructions(file: Path, text: str = "Read the note twice.") -> None:
    session = store.load(file)
    store.save(replace(session, signature=replace(session.signature, instructions=text)), file)


@pytest.mark.slow
@pytest.mark.parametrize("as_module", [False, True], ids=["pytest", "python -m pytest"])
def test_fixtures_are_tests_beside_those_of_a_project_with_our_package_names(
    run_pytest: Pytest, as_module: bool
) -> None:
    done = run_pytest(as_module=as_module)
    assert done.code == 0, done.text
    assert done.ids("PASSED") >= all_ids()
    assert done.summary == "8 passed"


def test_one_changed_instruction_fails_exactly_the_render_tests_and_an_update_accepts_it(
    run_pytest: Pytest, project: Path
) -> None:
    file = project / "prompts" / "invoice.session.json"
    change_instructions(file)
    done = run_pytest()
    assert done.code == 1
    assert done.ids("FAILED") == {one for one in all_ids() if one.endswith("::render")}
    assert "-" in done.text and "Read the note twice." in done.text
    assert "Traceback" not in done.text

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project)
        said = subprocess.run(
            [sys.executable, "-P", "-m", "workbench", "check", "prompts/invoice.session.json"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
        ).stdout
    differences = [line for line in said.splitlines() if line.lstrip()[:1] in ("-", "+")]
    assert differences and all(line in done.text for line in differences)

    assert run_pytest("--workbench-update").summary == "8 passed"
    assert run_pytest().summary == "8 passed"


def change_recorded_values(file: Path) -> None:
    """Make the currency that each recorded reply gives another one than recorded."""
    data = json.loads(file.read_text())
    for recording in data["cases"][0]["recordings"].values():
        recording["attempts"][0]["completions"][0]["reading"]["values"]["currency"] = "another"
    file.write_text(json.dumps(data))


def test_an_update_leaves_a_changed_value_out_and_says_so(run_pytest: Pytest, project: Path) -> None:
    change_recorded_values(project / "prompts" / "invoice.session.json")
    parses = {one for one in all_ids() if one.endswith("::parse")}
    done = run_pytest("--workbench-update")
    assert done.ids("FAILED") == parses
    assert done.text.count("--workbench-update left this out, because a verdict or value changed.") >= 3
    assert "left this out" not in run_pytest().text


def test_an_update_that_selects_parse_tests_by_chance_leaves_a_changed_value_out(
    run_pytest: Pytest, project: Path
) -> None:
    """As `--lf` does, when nothing but the values changed."""
    change_recorded_values(project / "prompts" / "invoice.session.json")
    by_chance = [word for one in all_ids() if one.endswith("::render") for word in ("--deselect", one)]
    assert run_pytest("--workbench-update", *by_chance).ids("FAILED") == {
        one for one in all_ids() if one.endswith("::parse")
    }
    assert run_pytest("--workbench-update", "-k", "chat and parse").code == 0
    assert run_pytest("--workbench-update", "prompts/invoice.session.json::case 1::json::parse").code == 0
    assert run_pytest().ids("FAILED") == {"prompts/invoice.session.json::case 1::xml::parse"}


def test_the_names_that_pytest_lists_select_their_tests(run_pytest: Pytest, project: Path) -> None:
    listed = re.findall(r"(?m)^(prompts/.*) PASSED ", run_pytest("-v", "prompts").text)
    assert set(listed) == all_ids()
    assert run_pytest(listed[0]).summary == "1 passed"


@pytest.mark.slow
def test_an_update_touches_the_chosen_tests_alone(run_pytest: Pytest, project: Path) -> None:
    change_instructions(project / "prompts" / "invoice.session.json")
    assert run_pytest("-k", "chat and render", "--workbench-update").code == 0
    assert run_pytest().ids("FAILED") == {one for one in all_ids() if one.endswith(("json::render", "xml::render"))}


@pytest.mark.slow
def test_an_update_that_cannot_be_written_says_why(run_pytest: Pytest, project: Path, tmp_path: Path) -> None:
    file = project / "prompts" / "invoice.session.json"
    change_instructions(file)
    file.rename(tmp_path / "elsewhere.json")
    file.symlink_to(tmp_path / "elsewhere.json")
    for words in ((), ("-k", "json and render")):
        said = run_pytest("--workbench-update", *words).text
        assert "not updated: prompts/invoice.session.json: this is a link that leads out of its folder" in said


@pytest.mark.slow
def test_words_mean_cases_columns_and_verdicts_and_never_the_names_of_files(run_pytest: Pytest, project: Path) -> None:
    prompts = project / "prompts"
    (prompts / "invoice.session.json").rename(prompts / "chat.session.json")
    change_instructions(prompts / "chat.session.json")
    assert run_pytest("-k", "json and render", "--workbench-update").summary == "1 passed, 7 deselected"
    left = {one for one in all_ids("prompts/chat.session.json") if one.endswith(("chat::render", "xml::render"))}
    assert run_pytest().ids("FAILED") == left
    assert run_pytest("-k", "not json").ids("PASSED") >= {
        one for one in all_ids("prompts/chat.session.json") if one.endswith(("chat::parse", "xml::parse"))
    }
    assert run_pytest("-k", "path:prompts and parse").summary == "3 passed, 5 deselected"


@pytest.mark.slow
def test_a_link_to_a_program_is_a_test_too(run_pytest: Pytest, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    (project / "pyproject.toml").touch()
    source = "import dspy\nclass Q(dspy.Signature):\n    a: str = dspy.InputField()\n    b: str = dspy.OutputField()\n"
    (project / "q.py").write_text(source)
    assert main(["new", "q.py:Q", "-o", "prompts/q.session.json", "--input", "a=1"]) == 0
    assert main(["send", "prompts/q.session.json", "--save", "--adapter", "chat"]) == 0
    done = run_pytest("prompts/q.session.json")
    assert done.ids("PASSED") >= {"prompts/q.session.json::case 1::chat::source"}
    (project / "q.py").write_text(source.replace("b: str", "b: bool"))
    done = run_pytest("prompts/q.session.json")
    assert done.ids("FAILED") == {"prompts/q.session.json::case 1::chat::source"}
    assert "the type of `b` has changed" in done.text


@pytest.mark.slow
def test_with_dspy_the_installed_dspy_is_asked_too(run_pytest: Pytest, project: Path) -> None:
    done = run_pytest("--workbench-dspy", "-k", "chat and upstream")
    assert done.ids("PASSED") == {"prompts/invoice.session.json::case 1::chat::upstream"}
    change_instructions(project / "prompts" / "invoice.session.json")
    assert run_pytest("--workbench-dspy", "-k", "chat and upstream").summary == "1 failed, 10 deselected"


@pytest.mark.slow
def test_lints_are_tests_on_request(run_pytest: Pytest, project: Path) -> None:
    done = run_pytest("--workbench-lint", "-k", "lint")
    assert done.ids("PASSED") == {"prompts/invoice.session.json::lint"}
    file = project / "prompts" / "invoice.session.json"
    session = store.load(file)
    store.save(replace(session, signature=replace(session.signature, text="note -> code: str, currency")), file)
    done = run_pytest("--workbench-lint", "-k", "lint")
    assert done.ids("FAILED") == {"prompts/invoice.session.json::lint"}
    assert "warning code-as-xml: `code` most likely contains < or &" in done.text
    assert not [one for one in run_pytest().ids("FAILED") if one.endswith("::lint")]


@pytest.mark.slow
def test_tests_are_chosen_by_id_and_by_word_and_end_at_the_first_failure(
    run_pytest: Pytest, project: Path, tmp_path: Path
) -> None:
    change_instructions(project / "prompts" / "invoice.session.json")
    assert run_pytest("prompts/invoice.session.json::case 1::chat").summary == "1 failed, 1 passed"
    assert run_pytest("-k", "parse and not xml").ids("PASSED") == {
        one for one in all_ids() if one.endswith(("chat::parse", "json::parse"))
    }
    report = tmp_path / "report.xml"
    assert run_pytest("-x", "prompts", f"--junitxml={report}").summary.endswith("1 failed")
    failures = [one for one in ElementTree.parse(report).iter("testcase") if one.find("failure") is not None]
    assert [one.get("name") for one in failures] == ["render"]


def test_the_plugin_can_be_left_out(run_pytest: Pytest) -> None:
    assert run_pytest("-p", "no:workbench").summary == "2 passed"


@pytest.mark.slow
def test_in_a_configured_folder_every_session_is_a_test(run_pytest: Pytest, project: Path) -> None:
    prompts = project / "prompts"
    (prompts / "invoice.session.json").rename(prompts / "invoice.json")
    (prompts / "other.json").write_text('{"format": "of something else"}')
    assert run_pytest().summary == "2 passed"
    (project / "pytest.ini").write_text("[pytest]\nworkbench_folders = prompts\n")
    done = run_pytest()
    assert done.ids("PASSED") >= all_ids("prompts/invoice.json")
    assert done.summary == "8 passed"


def test_expectations_are_tests_of_their_own(run_pytest: Pytest, project: Path) -> None:
    file = project / "prompts" / "invoice.session.json"
    session = store.load(file)
    expect = {"reply": "parses", "columns": {"xml": {"reply": "does_not_parse"}, "json": {}}}
    store.save(session.replace_case(replace(session.cases[0], expect=expect)), file)
    done = run_pytest("-k", "expect")
    assert done.ids("PASSED") == {"prompts/invoice.session.json::case 1::chat::expect"}
    assert done.ids("FAILED") == {"prompts/invoice.session.json::case 1::xml::expect"}


BROKEN = {
    "empty": ("", "the file is empty"),
    "half": ("{", "line 1"),
    "deep": ("[" * 20_000, "nested too deep"),
    "newer": ('{"format": 99}', "newer workbench"),
    "wrong": ('{"cases": [{"name": 3}], "format": 1}', 'has no "signature"'),
}


def test_a_file_that_is_no_session_is_one_failing_test(run_pytest: Pytest, project: Path) -> None:
    for name, (content, _) in BROKEN.items():
        (project / "prompts" / f"{name}.session.json").write_text(content)
    done = run_pytest("prompts")
    assert done.ids("FAILED") == {f"prompts/{name}.session.json::file" for name in BROKEN}
    assert done.ids("PASSED") == all_ids()
    for name, (_, said) in BROKEN.items():
        assert re.search(rf"^prompts/{name}\.session\.json: .*{re.escape(said)}", done.text, re.MULTILINE), name
    assert "Traceback" not in done.text


def test_a_session_with_nothing_recorded_is_skipped_never_passed(run_pytest: Pytest, project: Path) -> None:
    file = project / "prompts" / "invoice.session.json"
    session = store.load(file)
    store.save(session.replace_case(replace(session.cases[0], recordings={})), file)
    assert run_pytest("prompts").summary == "1 skipped"


def test_recordings_of_a_missing_release_fail_with_the_way_to_add_it(run_pytest: Pytest, project: Path) -> None:
    file = project / "prompts" / "invoice.session.json"
    file.write_text(re.sub(r'"adapter": "(chat|json|xml)"', r'"adapter": "\1@9.9.9"', file.read_text()))
    done = run_pytest("prompts")
    assert done.summary == "6 failed"
    assert "dspy 9.9.9 is not added here: `workbench dspy add 9.9.9` adds it" in done.text


def test_names_of_a_stranger_reach_no_terminal_as_control_sequences(run_pytest: Pytest, project: Path) -> None:
    file = project / "prompts" / "invoice.session.json"
    session = store.load(file)
    store.save(replace(session, cases=(replace(session.cases[0], name="\x1b[31m::a\nb\ud800"),)), file)
    change_instructions(file, "\x1b]0;title\x07 Read.")
    done = run_pytest("prompts")
    assert done.summary == "3 failed, 3 passed"
    assert "\x1b" not in done.text and "\x07" not in done.text
    assert "\\x1b\\x5b31m:\\x3aa\\nb\\ud800" in done.text


def test_a_case_with_a_bracket_in_its_name_is_chosen_by_its_id(run_pytest: Pytest, project: Path) -> None:
    file = project / "prompts" / "invoice.session.json"
    session = store.load(file)
    store.save(replace(session, cases=(replace(session.cases[0], name="late [paid]"),)), file)
    assert run_pytest("prompts", "-k", "paid and chat and render").code == 0
    chosen = run_pytest("prompts/invoice.session.json::late \\x5bpaid]::chat::render")
    assert (chosen.code, chosen.summary) == (0, "1 passed")


def test_files_are_updated_together_if_all_their_render_tests_are_chosen(
    tmp_path: Path, run: Run, rain: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("send", rain, "--save").code == 0
    files = [tmp_path / f"{name}.session.json" for name in "abc"]
    tests = []
    for file in files:
        file.write_bytes(Path(rain).read_bytes())
        for fixture in session_tests.outline(file) or ():
            test = object.__new__(session_tests.SessionTest)
            test.path, test.fixture, test.name = file, fixture, "render"
            tests.append(test)
    assert tests
    config = SimpleNamespace(rootpath=tmp_path, option=SimpleNamespace(keyword="render"), args=())
    calls: list[tuple[list[Path], list[str]]] = []
    monkeypatch.setattr(check_child, "check", lambda files, folder, options=(): calls.append((files, options)) or {})
    session_tests._Checks(SimpleNamespace(config=config, items=tests))._update(files, [])  # type: ignore[arg-type]
    assert calls == [(files, ["--update=render"])]


def test_a_project_without_sessions_pays_for_one_small_module(run_pytest: Pytest, project: Path) -> None:
    (project / "prompts" / "invoice.session.json").unlink()
    (project / "prompts" / "data.json").write_text("{}")
    (project / "conftest.py").write_text(
        "import json, sys\n"
        "def pytest_unconfigure():\n"
        "    ours = sorted(name for name in sys.modules if name.partition('.')[0] in ('workbench', 'pydantic'))\n"
        "    print('LOADED', json.dumps(ours))\n"
    )
    done = run_pytest("-s")
    assert json.loads(done.text.rpartition("LOADED ")[2].partition("\n")[0]) == ["workbench", "workbench.pytest_plugin"]


def test_their_folders_on_pythonpath_do_not_reach_the_check(run_pytest: Pytest, project: Path) -> None:
    assert run_pytest(PYTHONPATH=str(project)).summary == "8 passed"


@pytest.mark.slow
def test_several_workers_say_the_same(run_pytest: Pytest, project: Path) -> None:
    file = project / "prompts" / "invoice.session.json"
    for number in range(5):
        (project / "prompts" / f"copy{number}.session.json").write_bytes(file.read_bytes())
    change_instructions(file)
    alone, together = run_pytest(), run_pytest("-n", "2")
    assert together.ids("FAILED") == alone.ids("FAILED") == {one for one in all_ids() if one.endswith("::render")}
    assert together.ids("PASSED") == alone.ids("PASSED")
    assert len(alone.ids("PASSED")) == 2 + 36 - 3
    assert run_pytest("-n", "2", "--workbench-update").code == 0
    assert run_pytest("-n", "auto", "--dist", "loadfile").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("as_module", [False, True], ids=["pytest", "python -m pytest"])
def test_installed_among_other_packages_it_does_the_same(
    run_pytest: Pytest, project: Path, tmp_path: Path, as_module: bool
) -> None:
    installed = install(tmp_path / "installed", editable=False)
    assert run_pytest(by=installed, as_module=as_module).summary == "8 passed"
    change_instructions(project / "prompts" / "invoice.session.json")
    assert run_pytest(by=installed, as_module=as_module).summary == "3 failed, 5 passed"


@pytest.mark.slow
def test_many_files_are_checked_by_one_child(run_pytest: Pytest, project: Path, tmp_path: Path) -> None:
    file = project / "prompts" / "invoice.session.json"
    for number in range(40):
        (project / "prompts" / f"copy{number}.session.json").write_bytes(file.read_bytes())
    log = tmp_path / "children"
    (project / "conftest.py").write_text(
        "import sys\n"
        "def log(event, arguments):\n"
        "    if event == 'subprocess.Popen':\n"
        f"        open({str(log)!r}, 'a').write('child\\n')\n"
        "sys.addaudithook(log)\n"
    )
    assert run_pytest("prompts").summary == f"{41 * 6} passed"
    assert log.read_text() == "child\n"


@pytest.mark.parametrize(
    "words", [(), pytest.param(("-n", "2"), marks=pytest.mark.slow)], ids=["alone", "in two workers"]
)
def test_a_session_that_is_no_test_by_its_name_is_told_of(
    run_pytest: Pytest, project: Path, words: tuple[str, ...]
) -> None:
    prompts = project / "prompts"
    assert "not collected" not in run_pytest(*words).text
    (prompts / "invoice.session.json").rename(prompts / "q.json")
    (prompts / "package.json").write_text('{"name": "none of ours"}')
    done = run_pytest(*words)
    told = [line for line in done.text.splitlines() if "not collected" in line]
    assert len(told) == 1 and "1 session was not collected: prompts/q.json" in told[0]
    assert ".session.json" in told[0] and "workbench_folders" in told[0]
    assert done.code == 0
    (project / "pytest.ini").write_text("[pytest]\nworkbench_folders = prompts\n")
    assert "not collected" not in run_pytest(*words).text
