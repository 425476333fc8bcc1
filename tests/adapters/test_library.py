"""The library by its one import: what the document shows runs, is typed, and can be found by dir() and help()."""

from __future__ import annotations

import asyncio
import inspect
import pydoc
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from threading import Event
from typing import Any

import dspy
import pytest

import adapters
from adapters.running import runner

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
EXAMPLES = "\n".join(re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL))
CALLS = ("read_signature", "make_adapter", "open_model", "render", "read", "run")


def test_the_examples_of_the_document_run(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", EXAMPLES], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_the_examples_of_the_document_are_typed(tmp_path: Path) -> None:
    file = tmp_path / "examples.py"
    file.write_text(EXAMPLES, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", CALLS)
def test_a_call_is_listed_and_described(name: str) -> None:
    assert name in dir(adapters)
    assert name in adapters.__all__
    assert name in pydoc.render_doc(adapters, renderer=pydoc.plaintext)
    assert getattr(adapters, name).__doc__


def test_all_that_is_exported_is_there() -> None:
    assert [name for name in adapters.__all__ if not hasattr(adapters, name)] == []


def test_a_live_signature_of_dspy_is_taken_as_it_is() -> None:
    live = dspy.Signature("question -> answer: float")
    messages = adapters.render(live, {"question": "2+2?"}, adapter="json").as_dicts()
    assert messages == dspy.JSONAdapter().format(live, [], {"question": "2+2?"})
    assert adapters.read(live, "[[ ## answer ## ]]\n4").values == {"answer": 4.0}


@pytest.mark.parametrize("name", ["chat", "json", "xml", "baml"])
def test_an_adapter_takes_a_live_signature_and_serves_a_program_of_dspy(name: str) -> None:
    """As docs/library.md says: a live class works wherever a signature does."""
    live = dspy.Signature("question -> answer: float")
    ours, theirs = adapters.make_adapter(name), {"json": dspy.JSONAdapter, "xml": dspy.XMLAdapter}
    given = {"question": "2+2?"}
    assert ours.format(live, [], given) == adapters.render(live, given, adapter=name).as_dicts()  # type: ignore[arg-type]
    assert ours.render(live, [], given).as_dicts() == ours.format(live, [], given)  # type: ignore[arg-type]
    reply = ours.format_assistant_message_content(adapters.Signature.of(live), {"answer": 4})
    assert ours.parse(live, reply) == ours.read(live, reply).values == {"answer": 4.0}  # type: ignore[arg-type]
    assert ours.format_finetune_data(live, [], given, {"answer": 4})["messages"]  # type: ignore[arg-type]
    writes = theirs.get(name, dspy.JSONAdapter if name == "baml" else dspy.ChatAdapter)()
    for is_async in (False, True):
        with dspy.context(lm=dspy.utils.DummyLM([{"answer": 4}], adapter=writes), adapter=ours):
            program = dspy.Predict(live)
            found = asyncio.run(program.acall(**given)) if is_async else program(**given)
        assert found.answer == 4.0


def test_a_signature_of_a_text_says_what_to_call() -> None:
    with pytest.raises(TypeError, match=re.escape("adapters.read_signature('question -> answer')")):
        adapters.Signature("question -> answer")  # type: ignore[arg-type]


def test_a_failed_run_is_a_result() -> None:
    run = adapters.run("question -> n: int", {"question": "Why?"}, model="offline/refusal", adapter="json")
    assert run.error is not None
    assert (run.ok, run.error.phase, len(run.attempts)) == (False, "response", 1)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: adapters.render(42, {}), "a signature is a text such as 'question -> answer'"),  # type: ignore[arg-type]
        (lambda: adapters.read(adapters.Field, "x"), "not the class Field"),
        (lambda: adapters.render("q -> a", {}, adapter=adapters.ChatAdapter), "adapters.ChatAdapter(), got the class"),  # type: ignore[arg-type]
        (lambda: adapters.run("q -> a", {}, model=42), "model: expected a name or an object with `stream`"),  # type: ignore[arg-type]
        (lambda: adapters.render("q -> a", "Why?"), "inputs are a mapping of field names to values; not str"),  # type: ignore[arg-type]
        (lambda: adapters.render("q -> a", {}, demos={"q": "1"}), "demos: expected a list of mappings"),  # type: ignore[arg-type]
        (lambda: adapters.render("q -> a", {}, demos=["q"]), "each demo is a mapping"),  # type: ignore[list-item]
        (lambda: adapters.render("q -> a", {}, demos=None), "demos: expected a list of mappings"),  # type: ignore[arg-type]
        (lambda: adapters.render("q -> a", {}, adapter=dspy.ChatAdapter()), "got dspy.ChatAdapter"),
        (lambda: adapters.run("q -> a", {}, model=dspy.LM("openai/x")), "got dspy.LM"),
        (lambda: adapters.run("q -> a", {}, model=Lines), "got the class Lines"),  # type: ignore[arg-type]
        (lambda: adapters.compare("q -> a", {}, adapters="chat"), "adapters: expected a list of names and objects"),
        (lambda: adapters.read_signature(dspy.Signature("q -> a")), "expected the text of a signature, got the class"),
        (lambda: adapters.render(dspy.Predict("q -> a"), {}), "not dspy.Predict: give its `.signature`"),
        (lambda: adapters.render(dspy.ChainOfThought("q -> a"), {}), "dspy.ChainOfThought: give its `.predict.sig"),
        (lambda: adapters.make_adapter(None), "name: expected the name of an adapter"),  # type: ignore[arg-type]
        (lambda: adapters.open_model(None), "name: expected the name of a model"),  # type: ignore[arg-type]
    ],
)
def test_an_argument_of_another_kind_is_told_by_name(call: Callable[[], object], says: str) -> None:
    with pytest.raises(TypeError, match=re.escape(says)):
        call()


WRONG_OPTIONS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"temperature": 0.2}, TypeError, "run() has no option 'temperature'; parameters of the model are given as params"),
    ({"params": [1]}, TypeError, "params: expected a dict such as {'temperature': 0.2}, got list"),
    ({"n": "2"}, TypeError, "n: expected a whole number from 1 on, or None, got str"),
    ({"n": 0}, ValueError, "n: expected a whole number from 1 on, or None, got 0"),
    ({"retries": -1}, ValueError, "retries: expected a whole number from 0 on, got -1"),
    ({"ask_again": "1"}, TypeError, "ask_again: expected a whole number from 0 on, got str"),
    ({"deadline_s": "1"}, TypeError, "deadline_s: expected seconds as a number, or None, got str"),
    ({"cancel": True}, TypeError, "cancel: expected a threading.Event, or None, got bool"),
    ({"tools": [len]}, TypeError, "tools: expected adapters.tools.tools.Tools((RunTool("),
    ({"listeners": print}, TypeError, "listeners: expected a list of functions"),
    ({"capabilities": {"reasoning": True}}, TypeError, "capabilities: expected adapters.Capabilities(…), or None"),
    ({"extraction_lm": "offline/exact"}, TypeError, "extraction_lm: expected a model of adapters.open_model(…)"),
    ({"raw": 1}, TypeError, "raw: expected True or False, got int"),
]


@pytest.mark.parametrize(("options", "kind", "says"), WRONG_OPTIONS)
def test_a_wrong_option_of_a_run_is_told_before_anything_is_sent(
    options: dict[str, Any], kind: type[Exception], says: str
) -> None:
    with pytest.raises(kind, match=re.escape(says)):
        adapters.run("q -> a", {"q": "1"}, **options)


def test_every_option_of_a_run_is_checked() -> None:
    assert set(runner.EXPECTED) == set(adapters.RunOptions.__annotations__)


WRONG_MODELS: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("", {}, ValueError, "name: expected the name of a model"),
    ("openai/x", {"api_base": 5}, TypeError, "api_base: expected an address such as"),
    ("openai/x", {"allow_hosts": "example.com"}, TypeError, "allow_hosts: expected a list of hosts"),
    ("openai/x", {"capabilities": {}}, TypeError, "capabilities: expected adapters.Capabilities(…), got dict"),
    ("openai/x", {"timeout": "10"}, TypeError, "timeout: expected seconds as a number, got str"),
    ("openai/x", {"timeout": 0}, ValueError, "timeout: expected more than 0 seconds, got 0"),
]


@pytest.mark.parametrize(("name", "options", "kind", "says"), WRONG_MODELS)
def test_a_wrong_argument_of_open_model_is_told(
    name: str, options: dict[str, Any], kind: type[Exception], says: str
) -> None:
    with pytest.raises(kind, match=re.escape(says)):
        adapters.open_model(name, **options)


@pytest.mark.parametrize("name", ["JSON", "JSONAdapter", "jsn"])
def test_an_adapter_that_is_nearly_named_is_suggested(name: str) -> None:
    with pytest.raises(ValueError, match=re.escape(f"there is no adapter {name!r}; did you mean 'json'?")):
        adapters.make_adapter(name)


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml", "twostep", "markdown"])
@pytest.mark.parametrize("reply", [None, 5, b"x", {"a": 1}])
def test_a_reply_that_is_no_text_is_a_parse_error(adapter: str, reply: Any) -> None:
    reading = adapters.read("q -> a", reply, adapter=adapter)
    assert not reading.ok and reading.error is not None and reading.spans == ()


class Lines(adapters.Adapter):
    def format(self, signature: Any, demos: Any, inputs: Any) -> Any:
        return [{"role": "user", "content": "?"}]

    def parse(self, signature: Any, completion: str) -> Any:
        found = dict(line.split(" = ", 1) for line in completion.splitlines() if " = " in line)
        return {name: found[name] for name in signature.output_fields}


def test_adapters_of_the_same_name_are_compared_one_beside_the_other() -> None:
    sides = adapters.compare("q -> a", {"q": "1"}, adapters=[Lines(), "chat", Lines()], reply="a = 1").sides
    assert list(sides) == [side.name for side in sides.values()] == ["custom", "chat", "custom 2"]
    assert all(side.reading is not None for side in sides.values())


def test_a_key_that_a_users_parser_misses_is_told_as_such() -> None:
    run = adapters.run("q -> a", {"q": "1"}, adapter=Lines())
    assert run.error is not None
    assert run.error.message == "The reply could not be read as custom: KeyError: 'a'"


def test_a_users_adapter_without_format_or_values_is_told_what_is_missing() -> None:
    class Nothing(adapters.Adapter):
        def parse(self, signature: Any, completion: str) -> Any:
            return None

    run = adapters.run("q -> a", {"q": "1"}, adapter=Nothing())
    assert run.error is not None and run.error.message.endswith("NotImplementedError: Nothing must override format()")
    error = adapters.read("q -> a", "x", adapter=Nothing()).error
    assert error is not None and error.message == "`parse` returns a dict of the outputs, not NoneType"


def test_an_example_of_dspy_is_a_demo() -> None:
    demo = dspy.Example(question="1+1?", answer="2")
    messages = adapters.render("question -> answer", {"question": "2+2?"}, demos=[demo]).as_dicts()  # type: ignore[list-item]
    assert messages == dspy.ChatAdapter().format(dspy.Signature("question -> answer"), [demo], {"question": "2+2?"})


def test_an_option_that_an_adapter_has_not_is_told_with_those_that_it_has() -> None:
    with pytest.raises(ValueError, match="there is no option 'callback' of the adapter chat; there are use_native"):
        adapters.make_adapter("chat", callback=1)


def test_a_made_adapter_is_ones_own_to_change() -> None:
    made = adapters.make_adapter("chat")
    made.callbacks.append(adapters.Callback())
    assert adapters.make_adapter("chat").callbacks == []


def test_a_name_that_is_nearly_one_is_suggested() -> None:
    command = [sys.executable, "-c", "import adapters; adapters.ChatAdaptor"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.rstrip().endswith("Did you mean: 'ChatAdapter'?")


def test_the_options_of_a_run_are_those_of_the_runner() -> None:
    own = inspect.signature(runner.run).parameters.values()
    assert set(adapters.RunOptions.__annotations__) == {one.name for one in own if one.kind is one.KEYWORD_ONLY} - {
        "fallback"
    }


def test_a_run_shows_what_it_came_to_and_not_all_that_it_did() -> None:
    run = adapters.run("question -> answer", {"question": "Why?"})
    assert repr(run).startswith(f"Run(ok=True, values={run.values!r}, error=None") and len(repr(run)) < 200


def test_a_model_of_ones_own_is_asked() -> None:
    class Echo:
        model = "mine/echo"
        capabilities = adapters.Capabilities()

        def stream(self, request: Mapping[str, Any], cancel: Event | None = None) -> Iterator[adapters.Chunk]:
            asked = request["messages"][-1]["content"].splitlines()[1]
            yield adapters.Chunk(text=f"[[ ## answer ## ]]\n{asked}!")

    assert adapters.run("question -> answer", {"question": "Why?"}, model=Echo()).values == {"answer": "Why?!"}
