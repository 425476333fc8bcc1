from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import dspy
import pytest

from sessions.file import saving, store
from sessions.model.session import Tool
from sessions.running import rendering
from workbench.output import exit_codes

Run = Callable[..., Any]

HEAD = "import dspy\nclass S(dspy.Signature):\n"

INVOICE = '''
import os
import dspy
from pydantic import BaseModel, field_validator
from enum import Enum

os.system("touch pwned")

class Currency(Enum):
    EUR = "EUR"
    USD = "USD"

class Item(BaseModel):
    name: str
    price: float

class Extract(dspy.Signature):
    """Extract the invoice."""

    note: str = dspy.InputField(desc="the note as it came")
    currency: Currency = dspy.OutputField()
    items: list[Item] = dspy.OutputField()

class Classify(dspy.Signature):
    """Say what the note is."""

    note: str = dspy.InputField()
    label: str = dspy.OutputField()

if __name__ == "__main__":
    print("never printed")
'''


def test_a_signature_and_its_inputs_become_a_session(rain: str, run: Run) -> None:
    session = store.load(rain)
    assert list(session.signature.read().fields) == ["question", "context", "answer", "score"]
    assert [column.id for column in session.columns] == ["chat", "json", "xml"]
    assert session.model == "offline/exact"
    assert session.cases[0].inputs == {
        "question": "Is it raining?",
        "context": ["It pours.", "Umbrellas\nare out."],
    }
    assert not session.fallback


def test_json_says_what_was_made(run: Run) -> None:
    done = run("new", "question -> answer: float", "-o", "q.json", "--json")
    assert done.json == {
        "path": "q.json",
        "columns": ["chat", "json", "xml"],
        "signature": [
            {"name": "question", "role": "input", "type": "str"},
            {"name": "answer", "role": "output", "type": "float"},
        ],
        "lints": [],
    }


def test_validators_that_are_never_run_are_named_at_once(run: Run) -> None:
    Path("shop.py").write_text(
        "import dspy, pydantic\nclass Item(pydantic.BaseModel):\n    n: int\n"
        "    @pydantic.field_validator('n')\n    def check(cls, n): return n\n"
        "class Shop(dspy.Signature):\n    q: str = dspy.InputField()\n    item: Item = dspy.OutputField()\n"
    )
    assert "dspy runs" in run("new", "shop.py", "-o", "q.json").err
    found = run("new", "shop.py", "-o", "r.json", "--json").json["lints"]
    assert [(one["name"], one["place"]) for one in found] == [("code-of-type-not-run", "field `item`")]


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("str", "12", "12"),
        ("str", ' "quoted" ', ' "quoted" '),
        ("int", "12", 12),
        ("float", "12", 12),
        ("bool", "true", True),
        ("list[str]", '["a"]', ["a"]),
        ("dict[str, int]", '{"a": 1}', {"a": 1}),
        ("Optional[str]", "hello", "hello"),
        ("Optional[str]", "12", "12"),
        ("Optional[str]", "null", None),
        ("Literal['1', '2']", "1", "1"),
        ("Literal['yes', 'no']", "yes", "yes"),
        ("date", "2026-02-03", "2026-02-03"),
        ("Any", "[1]", [1]),
        ("Any", "words", "words"),
        ("float", "NaN", "NaN"),
        ("list[int]", "[9007199254740993]", [9007199254740993]),
    ],
)
def test_a_value_is_text_for_str_and_else_json_and_else_text_if_the_type_takes_it(
    kind: str, text: str, value: Any, run: Run
) -> None:
    done = run("new", f"x: {kind} -> y", "-o", "q.json", "--input", f"x={text}")
    assert done.code == 0, done.err
    got = store.load("q.json").cases[0].inputs["x"]
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["x: int -> y", "--input", "x=twelve"], "'twelve' is not of type int"),
        (["x: list[str] -> y", "--input", "x=a, b"], "give it as JSON"),
        (["x: dspy.Image -> y", "--input", "x=[1]"], 'give {"url": "https://'),
        (["x -> y", "--input", "z=1"], "no input 'z'"),
        (["question -> y", "--input", "questoin=1"], "did you mean 'question'?"),
        (["x -> y", "--input", "x"], "NAME=VALUE"),
        (["x -> y", "--demo", "{"], "JSON object"),
        (["x -> y", "--demo", "[1]"], "JSON object"),
        (["x -> y", "--demo", '{"q": 1}'], "no field 'q'"),
        (["x y -> z"], "line 1, column"),
        (["x: nosuch -> y"], "line 1, column"),
        (["gone.py"], "gone.py: there is no such file"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_is_written(words: list[str], said: str, run: Run) -> None:
    done = run("new", *words, "-o", "q.json")
    assert done.code == exit_codes.USAGE
    assert said in done.err
    assert len(done.err.splitlines()) == 1
    assert not Path("q.json").exists()


def test_an_existing_file_is_kept_unless_forced(rain: str, run: Run) -> None:
    before = Path(rain).read_bytes()
    done = run("new", "a -> b", "-o", rain)
    assert (done.code, Path(rain).read_bytes()) == (exit_codes.USAGE, before)
    assert "--force" in done.err
    assert run("new", "a -> b", "-o", rain, "--force").code == 0
    assert Path(rain).read_bytes() != before


def test_demos_instructions_chain_of_thought_and_model(run: Run) -> None:
    done = run(
        *("new", "question -> answer", "-o", "q.json", "--cot", "--model", "offline/sloppy"),
        *("--instructions", "Be brief."),
        *("--demo", '{"question": "1 + 1", "answer": "2"}', "--demo", '{"question": "2 + 2"}'),
    )
    assert done.code == 0, done.err
    session = store.load("q.json")
    signature = session.signature.read()
    assert list(signature.output_fields) == ["reasoning", "answer"]
    assert signature.instructions == "Be brief."
    assert [dict(demo.values) for demo in session.demos] == [
        {"question": "1 + 1", "answer": "2"},
        {"question": "2 + 2"},
    ]
    assert session.model == "offline/sloppy"


@pytest.mark.parametrize("given", ["https://example.com/a.png", '{"url": "https://example.com/a.png"}'])
def test_an_image_is_given_by_its_address_as_the_hint_says(given: str, run: Run) -> None:
    assert run("new", "picture: dspy.Image -> caption", "-o", "q.json", "--input", f"picture={given}").code == 0
    assert '"image_url": {' in run("render", "q.json", "--json").out


def test_an_example_in_a_hint_is_one_that_is_taken(run: Run) -> None:
    line = "from pydantic import BaseModel\nclass Line(BaseModel):\n    price: float\n"
    Path("s.py").write_text(line + HEAD + "    x: Line = dspy.InputField()\n    y: str = dspy.OutputField()\n")
    refused = run("new", "s.py", "-o", "q.json", "--input", "x=abc")
    assert "'abc' is not of type Line; give it as JSON" in refused.err
    assert "key" not in refused.err


def test_a_python_file_is_read_and_never_run(run: Run) -> None:
    Path("invoice.py").write_text(INVOICE)
    done = run("new", "invoice.py:Extract", "-o", "q.json", "--input", "note=Two pens.")
    assert done.code == 0, done.err
    signature = store.load("q.json").signature.read()
    assert (signature.name, signature.instructions) == ("Extract", "Extract the invoice.")
    assert list(signature.fields) == ["note", "currency", "items"]
    assert not Path("pwned").exists()


def test_the_session_of_a_class_is_named_after_it(run: Run) -> None:
    fields = "    a: str = dspy.InputField()\n    b: str = dspy.OutputField()\n"
    Path("q.py").write_text(f"import dspy\n\nclass Ticket(dspy.Signature):\n{fields}")
    for given in ("q.py", "q.py:Ticket"):
        assert run("new", given, "-o", "q.json", "--force").code == 0
        assert store.load("q.json").name == "Ticket"
    assert "<title>Ticket</title>" in run("export", "q.json", "--as", "lesson").out
    assert run("new", "a -> b", "-o", "plain.json").code == 0
    assert store.load("plain.json").name == ""


def test_a_file_with_several_signatures_asks_which(run: Run) -> None:
    Path("invoice.py").write_text(INVOICE)
    done = run("new", "invoice.py", "-o", "q.json")
    assert done.code == exit_codes.USAGE
    assert "invoice.py:Extract, invoice.py:Classify" in done.err


@pytest.mark.parametrize(
    "signature",
    [
        '__import__("os").system("touch pwned") -> y',
        'x: __import__("os").system("touch pwned") -> y',
        'x -> y: list[__import__("os").system("touch pwned")]',
        "x: os.system -> y",
    ],
)
def test_code_in_a_signature_is_refused(signature: str, run: Run) -> None:
    done = run("new", signature, "-o", "q.json")
    assert done.code == exit_codes.USAGE
    assert not Path("pwned").exists()


def test_code_in_a_file_is_refused_or_inert(run: Run) -> None:
    attack = '__import__("os").system("touch pwned")'
    for place in (f"x: {attack} = dspy.InputField()", f"x: str = dspy.InputField(default={attack})"):
        Path("s.py").write_text(f"{HEAD}    {place}\n    y: str = dspy.OutputField()\n")
        run("new", "s.py", "-o", "q.json", "--force")
        run("render", "q.json")
        assert not Path("pwned").exists()
    field = f"x: str = dspy.InputField(desc={json.dumps(attack)})"
    Path("s.py").write_text(f"{HEAD}    {field}\n    y: str = dspy.OutputField()\n")
    assert run("new", "s.py", "-o", "q.json", "--force", "--input", f"x={attack}").code == 0
    done = run("render", "q.json")
    assert done.code == 0
    assert attack in done.out
    assert not Path("pwned").exists()


def test_a_module_is_a_session_for_each_of_its_inner_signatures(run: Run) -> None:
    tool = "search(query: str, k: int = 5): Search the web."
    done = run(
        *("new", "question -> answer: str, score: float", "--module", "react", "--tool", tool),
        *("-o", "agent.session.json", "--input", "question=Why?", "--json"),
    )
    assert done.code == 0, done.err
    assert [one["path"] for one in done.json["sessions"]] == ["agent.react.session.json", "agent.extract.session.json"]

    def search(query: str, k: int = 5) -> str:
        """Search the web."""
        return query

    theirs = dspy.ReAct("question -> answer: str, score: float", [search])
    for name, live in (("react", theirs.react), ("extract", theirs.extract.predict)):
        rendered = run("render", f"agent.{name}.session.json", "--adapter", "chat", "--json")
        messages = dspy.ChatAdapter().format(live.signature, [], {"question": "Why?", "trajectory": ""})
        assert rendered.json["prompts"]["chat"]["messages"] == messages
    session = store.load("agent.react.session.json")
    assert session.tools == (Tool("search", "Search the web.", "query: str, k: int = 5"),)
    assert session.signature.text == "question -> answer: str, score: float"
    step = {"thought": "Look.", "tool_name": "search", "tool_args": {"query": "x"}, "observation": "found"}
    request = rendering.request_of(session, session.columns[0], replace(session.cases[0], history=(step,)))
    trajectory = theirs._format_trajectory({f"{name}_0": value for name, value in step.items()})
    inputs = {"question": "Why?", "trajectory": trajectory}
    assert request.prompt.as_dicts() == dspy.ChatAdapter().format(theirs.react.signature, [], inputs)


def test_the_sessions_of_a_module_are_written_all_or_none(run: Run) -> None:
    Path("agent.extract.session.json").write_text("mine")
    done = run("new", "question -> answer", "--module", "react", "-o", "agent.session.json")
    assert done.code == exit_codes.USAGE and "agent.extract.session.json is there already" in done.err
    assert not Path("agent.react.session.json").exists()
    assert Path("agent.extract.session.json").read_text() == "mine"


@pytest.mark.parametrize("module", ["react", "code-act", "refine"])
def test_an_agent_without_tools_is_told_how_to_add_them(module: str, run: Run) -> None:
    done = run("new", "question -> answer", "--module", module, "-o", "agent.session.json")
    assert ("no tools: add them with --tool" in done.err + done.out) == (module == "react")


def test_a_tool_that_is_none_is_refused(run: Run) -> None:
    for words, said in (
        (("--tool", "search(query: str)"), "--tool belongs to --module"),
        (("--module", "react", "--tool", "search"), "expected NAME(ARGUMENTS): DESCRIPTION"),
        (("--module", "program-of-thought", "--tool", "search()"), "has no tools"),
        (("--module", "react", "--cot"), "leave out --demo and --cot"),
    ):
        done = run("new", "question -> answer", "-o", "a.json", *words)
        assert done.code == exit_codes.USAGE and said in done.err, done.err
    assert not Path("a.json").exists()


def test_an_input_takes_a_file(tmp_path: Path, run: Run) -> None:
    (tmp_path / "p.png").write_bytes(b"\x89PNG")
    file = tmp_path / "q.session.json"
    words = ("new", "pictures: list[dspy.Image], note -> answer", "-o", str(file), "--input", "note=@all")
    picture = f"pictures=@{tmp_path / 'p.png'}"
    done = run(*words, "--input", picture, "--input", picture)
    assert done.code == 0 and "pictures: image/png · 4 B" in done.err
    inputs = store.load(file).cases[0].inputs
    assert inputs["note"] == "@all" and inputs["pictures"] == [{"url": "data:image/png;base64,iVBORw=="}] * 2
    for name in ("gone.png", "~nobody-of-this-name/p.png"):
        failed = run(*words, "--force", "--input", f"pictures=@{name}")
        assert failed.code == 2 and f"--input pictures: {name}: no such file or directory" in failed.err
    failed = run(*words, "--force", "--input", "pictures=hello")
    assert "attach a file: --input pictures=@PATH" in failed.err


INNER = """
import dspy
def build():
    class Answer(dspy.Signature):
        question: str = dspy.InputField()
        answer: str = dspy.OutputField()
"""


@pytest.mark.parametrize("given", ["qa.py", "qa.py:build.Answer"])
def test_a_class_in_a_function_becomes_a_session(run: Run, given: str) -> None:
    Path("qa.py").write_text(INNER)
    assert "question -> answer" in run("new", given, "-o", "qa.json").err


def test_a_class_of_another_project_brings_its_imports(tmp_path: Path, run: Run) -> None:
    program, elsewhere = tmp_path / "program", tmp_path / "elsewhere"
    program.mkdir()
    elsewhere.mkdir()
    (program / "models.py").write_text("from pydantic import BaseModel\nclass Item(BaseModel):\n    name: str\n")
    body = "    note: str = dspy.InputField()\n    item: Item = dspy.OutputField()\n"
    (program / "qa.py").write_text(f"from models import Item\n{HEAD}{body}")
    made = run("new", str(program / "qa.py:S"), "-o", str(elsewhere / "q.json"))
    assert made.code == 0, made.err
    written = store.load(elsewhere / "q.json").signature
    assert "class Item(BaseModel)" in written.text and written.source is None
    (program / "qa.py").write_text(f"from absent import Item\n{HEAD}{body}")
    made = run("new", str(program / "qa.py:S"), "-o", str(elsewhere / "r.json"))
    assert made.code == 2 and "line 5, column 11: `Item` is imported from absent" in made.err


@pytest.mark.parametrize("folder", ["project", "other"])
@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("nowhere", "`Kind` is imported from nowhere, and the project has no such file"),
        ("empty", "empty.py has no Kind"),
        ("wrong", "wrong.py: unknown name `f`"),
    ],
)
def test_why_an_import_cannot_be_followed_is_said_with_its_file(
    folder: str, module: str, said: str, tmp_path: Path, run: Run
) -> None:
    project = tmp_path / "project"
    for one in (project, tmp_path / "other"):
        one.mkdir()
    (project / "empty.py").write_text("")
    (project / "good.py").write_text("from pydantic import BaseModel\nclass Good(BaseModel):\n    n: int\n")
    (project / "wrong.py").write_text("from pydantic import BaseModel\nclass Kind(BaseModel):\n    n: int = f()\n")
    fields = "    good: Good = dspy.OutputField()\n    kind: Kind = dspy.OutputField()\n"
    (project / "qa.py").write_text(f"from good import Good\nfrom {module} import Kind\n{HEAD}{fields}")
    made = run("new", str(project / "qa.py"), "-o", str(tmp_path / folder / "q.json"))
    assert made.code == 2 and said in made.err, made.err


def test_of_two_at_once_only_the_first_writes_its_session(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that another process makes after the look for it is not replaced."""
    assert run("new", "a -> b", "-o", "q.json").code == 0
    first = Path("q.json").read_bytes()
    monkeypatch.setattr(Path, "exists", lambda self, **_: False)
    done = run("new", "c -> d", "-o", "q.json")
    assert done.code == exit_codes.USAGE
    assert "q.json is there already; --force overwrites it" in done.err
    assert Path("q.json").read_bytes() == first
    assert run("new", "c -> d", "-o", "q.json", "--force").code == 0


def test_what_force_overwrites_is_kept_as_a_restore_point(run: Run) -> None:
    run("new", "a -> b", "-o", "q.json")
    first = Path("q.json").read_bytes()
    assert run("new", "c -> d", "-o", "q.json", "--force").code == 0
    (point,) = saving.restore_points("q.json")
    assert point.place.read_bytes() == first
    Path("s.py").write_text(f"{HEAD}    e: str = dspy.InputField()\n    f: str = dspy.OutputField()\n")
    second = Path("q.json").read_bytes()
    assert run("import", "s.py:S", "-o", "q.json", "--force").code == 0
    assert saving.restore_points("q.json")[0].place.read_bytes() == second


def test_it_is_said_where_nothing_was_kept_of_what_is_overwritten(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("new", "a -> b", "-o", "q.json")
    monkeypatch.setattr(saving, "keep_restore_point", lambda path: "no restore point was kept: no space")
    done = run("new", "c -> d", "-o", "q.json", "--force")
    assert done.code == 0 and "workbench: q.json: no restore point was kept: no space\n" in done.err


def test_a_folder_is_named_as_such_and_not_to_be_overwritten(run: Run) -> None:
    Path("prompts").mkdir()
    done = run("new", "a -> b", "-o", "prompts")
    assert done.code == exit_codes.USAGE and "prompts: this is a folder (name a file in it)" in done.err
