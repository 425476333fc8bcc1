"""The library by its one import: what the document shows runs, is typed, and can be found by dir() and help()."""

from __future__ import annotations

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
    ],
)
def test_an_argument_of_another_kind_is_told_by_name(call: Callable[[], object], says: str) -> None:
    with pytest.raises(TypeError, match=re.escape(says)):
        call()


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
