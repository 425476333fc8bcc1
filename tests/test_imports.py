"""What a fresh interpreter has loaded after an import: the engine knows no screen and no provider's client."""

from __future__ import annotations

import ast
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HEAVY = ("textual", "rich", "litellm", "openai", "dspy")

COMMANDS = ("new", "render", "send", "record", "parse", "check", "diff", "export", "models")


def modules_of(*packages: str) -> list[str]:
    """The modules of packages by dotted name, without what only runs as a program of its own."""
    found = []
    for package in packages:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if parts[-1] not in ("__main__", "litellm_worker", "dspy_worker", "dspys_objects"):
                found.append(".".join(parts).removesuffix(".__init__"))
    return found


def loaded_after(code: str) -> set[str]:
    """The top-level packages in `sys.modules` after `code` in a fresh interpreter."""
    return {name.partition(".")[0] for name in modules_after(code)}


def modules_after(code: str) -> set[str]:
    """All that is in `sys.modules` after `code` in a fresh interpreter."""
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("package", ["adapters", "sessions"])
def test_the_core_loads_no_screen_and_no_client(package: str) -> None:
    modules = modules_of(package)
    code = "import importlib\nfor name in " + repr(modules) + ":\n    importlib.import_module(name)"
    assert loaded_after(code) & set(HEAVY) == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_loads_the_screen_or_a_client(command: str) -> None:
    assert loaded_after(f"import workbench.__main__, workbench.cli.commands.{command}") & set(HEAVY) == set()


def test_the_app_starts_without_models_engine_and_formats() -> None:
    loaded = modules_after("import workbench.tui.launch")
    later = ("adapters.formats.base", "adapters.json_text", "pydantic", "json_repair", "secrets", "pkgutil")
    assert not [name for name in loaded if name.startswith((*later, "workbench.editing.completion"))]
    assert {name for name in loaded if name.startswith("adapters.lm.")} == {"adapters.lm.lm_settings"}


def test_the_list_of_models_opens_without_what_calls_them() -> None:
    loaded = modules_after("import workbench.tui.actions.columns")
    assert not loaded & {"adapters.lm.litellm_client", "adapters.running.runner", "workbench.sending.sending"}


def test_notes_on_prompts_load_no_entities_of_html() -> None:
    assert "html" not in modules_after("import adapters.lint")


def test_rendering_and_sending_offline_loads_neither(tmp_path: Path) -> None:
    session = tmp_path / "q.json"
    code = f"""
from workbench.__main__ import main
assert main(["new", "question -> answer", "-o", {str(session)!r}, "--input", "question=Why?"]) == 0
assert main(["render", {str(session)!r}, "--json"]) == 0
assert main(["send", {str(session)!r}, "--json"]) == 0
print()
"""
    assert loaded_after(code) & set(HEAVY) == set()


def test_who_captures_in_code_has_neither_engine_nor_sessions_in_the_program() -> None:
    code = """
from workbench.capture import Capture, capture
capture("prompts")
Capture("prompts").close()
"""
    assert loaded_after(code) & {*HEAVY, "adapters", "sessions", "pydantic"} == set()


def test_what_listens_in_a_program_from_outside_loads_nothing_of_ours_under_our_names() -> None:
    startup = ROOT / "workbench" / "capture" / "startup" / "sitecustomize.py"
    code = f"""
import os, sys
os.environ["WORKBENCH_CAPTURE"] = '{{"command": ["true"], "variables": {{}}, "options": {{}}}}'
sys.path.insert(0, {str(startup.parent)!r})
sys.modules.pop("sitecustomize", None)
import sitecustomize
assert "_workbench_capture.listening" in sys.modules
"""
    assert loaded_after(code) & {*HEAVY, "adapters", "sessions", "workbench", "pydantic"} == set()


ENGINE = (
    *("display", "errors", "formats", "json_text", "late_dataclasses", "lm", "prompts", "replies", "requests"),
    *("signatures", "tools", "types", "user_folders", "values"),
)
SESSION = ("errors", "file", "model", "releases", "running", "text_diff")
OURS_OF_A_COMMAND: dict[str, tuple[str, ...]] = {
    "--help": ("workbench.cli", "workbench.config", "workbench.output"),
    "render": (*[f"adapters.{one}" for one in ENGINE], *[f"sessions.{one}" for one in SESSION]),
    "models": (
        *("adapters.late_dataclasses", "adapters.lm", "adapters.requests", "adapters.user_folders"),
        "workbench.sending",
    ),
}
OURS_OF_A_COMMAND["parse"] = OURS_OF_A_COMMAND["render"]
OURS_OF_A_COMMAND["check"] = (
    *OURS_OF_A_COMMAND["render"],
    *("sessions.causes", "sessions.checking", "sessions.source", "workbench.checks"),
)
OURS_OF_A_COMMAND["stress"] = (*OURS_OF_A_COMMAND["render"], "adapters.mutations", "sessions.stress")
"""The folders that a command loads, beside those of `--help`."""

OTHERS_OF_A_COMMAND: dict[str, tuple[str, ...]] = {
    "--help": ("shutil",),
    "render": ("pydantic", "pydantic_core", "annotated_types", "typing_extensions", "typing_inspection"),
    "models": ("tomllib",),
}
OTHERS_OF_A_COMMAND["parse"] = (*OTHERS_OF_A_COMMAND["render"], "difflib", "email", "json_repair", "shutil")
OTHERS_OF_A_COMMAND["check"] = OTHERS_OF_A_COMMAND["render"]
OTHERS_OF_A_COMMAND["stress"] = OTHERS_OF_A_COMMAND["parse"]
SLOW_OF_PYTHON = (
    "asyncio",
    "concurrent",
    "difflib",
    "email",
    "http",
    "logging",
    "multiprocessing",
    "shutil",
    "ssl",
    "subprocess",
    "tomllib",
)
"""Modules of Python's own that take milliseconds to load."""
UNUSED = {
    *("adapters.lint", "adapters.types.media", "adapters.requests.token_ledger", "sessions.file.both_changes"),
    *("sessions.running.linting", "adapters.signatures.class_writer"),
}
"""Modules within those folders that no command of the table uses."""
FOR_OTHER_SIGNATURES = {"pydantic.fields", "adapters.signatures.notation"}
"""Modules that a signature of plain types in the string notation does not need; pydantic's takes a tenth of a start."""


@pytest.mark.parametrize("command", OURS_OF_A_COMMAND)
def test_a_command_loads_what_it_uses(command: str, tmp_path: Path) -> None:
    session = tmp_path / "q.json"
    main = "import sys; from workbench.__main__ import main; main({})"
    made = ["new", "question -> answer", "-o", str(session), "--input", "question=Why?"]
    for first in (made, ["send", str(session), "--save"]) if command in ("render", "parse", "check", "stress") else ():
        subprocess.run([sys.executable, "-c", main.format(first)], cwd=ROOT, check=True, capture_output=True)
    given = [command, str(session)] if session.exists() else [command]
    before = modules_after("")
    loaded = modules_after(main.format(given) + "\nprint()") - before
    ours = {
        ".".join(name.split(".")[:2]) for name in loaded if name.startswith(("adapters.", "sessions.", "workbench."))
    }
    tops = {name.partition(".")[0] for name in loaded}
    others = {
        name
        for name in tops
        if not name.startswith("_") and (name not in sys.stdlib_module_names or name in SLOW_OF_PYTHON)
    }
    allowed = {*OURS_OF_A_COMMAND["--help"], *OURS_OF_A_COMMAND[command], "workbench.__main__"}
    assert ours - allowed == set()
    assert loaded & UNUSED == set()
    assert command not in ("render", "send", "check") or loaded & FOR_OTHER_SIGNATURES == set()
    assert others - {"adapters", "sessions", "workbench", *OTHERS_OF_A_COMMAND[command]} == set()


def test_help_and_version_load_not_even_the_engine() -> None:
    code = "from workbench.__main__ import main\nmain(['--help'])\nmain(['--version'])\nprint()"
    assert loaded_after(code) & {*HEAVY, "pydantic", "sessions", "dataclasses", "difflib"} == set()


def test_the_first_picture_of_the_app_waits_for_no_model_of_data_and_no_client() -> None:
    assert (
        loaded_after("import workbench.tui.launch") & {"pydantic", "json_repair", "litellm", "openai", "dspy"} == set()
    )


def test_the_first_picture_of_the_app_waits_for_nothing_that_asks_over_http() -> None:
    code = "import sys, workbench.tui.launch, workbench.tui.app; assert 'http.client' not in sys.modules"
    assert loaded_after(code)


def imported_by(path: Path, modules: set[str]) -> set[str]:
    """The project's modules that a file imports anywhere, for types alone and within functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{one.name}" for one in node.names}
            found |= (inner & modules) | ({node.module} if inner - modules else set())
    return found & modules


def test_no_file_knows_itself_by_a_detour() -> None:
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for package in ("adapters", "sessions", "workbench")
        for path in sorted((ROOT / package).rglob("*.py"))
    }
    imports = {name: imported_by(path, set(files)) - {name} for name, path in files.items()}
    while leaves := [name for name, known in imports.items() if not known & imports.keys()]:
        for name in leaves:
            del imports[name]
    assert list(imports) == []


def test_an_adapter_is_loaded_without_what_waits_for_a_model() -> None:
    loaded = modules_after("from adapters import ChatAdapter")
    assert not loaded & {"asyncio", "ssl", "subprocess", "adapters.requests.request", "adapters.tools"}


def test_what_is_forbidden_here_is_installed() -> None:
    assert [name for name in HEAVY if importlib.util.find_spec(name) is None] == []
