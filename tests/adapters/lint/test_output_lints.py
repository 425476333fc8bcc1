"""Lints of outputs and requests: each on the signature of a public report, with a fix, and none on ordinary ones."""

from __future__ import annotations

from typing import Any

import pytest

from adapters import lint as prompt_lint
from adapters.formats import catalog
from adapters.lint import Lint, Place
from adapters.lint.lint import FIXES
from adapters.lint.linting import LINTS
from adapters.lm.litellm_answers import Limits
from adapters.requests.capabilities import NONE, Capabilities
from adapters.requests.request import prepare
from adapters.signatures import notation

SCHEMA = Capabilities(response_schema=True, params=frozenset({"response_format"}))
THINKS = Capabilities(reasoning=True, params=frozenset({"max_tokens"}))
HEAD = "import dspy\nfrom typing import *\nfrom pydantic import BaseModel, field_validator\n"


ACT = (
    HEAD + "class Act(BaseModel):\n    click: Optional[int] = None\n    open: Optional[str] = None\n"
    "class S(dspy.Signature):\n    q: str = dspy.InputField()\n    acts: list[Act] = dspy.OutputField()\n"
)
TREE = (
    HEAD + "class Node(BaseModel):\n    name: str\n    children: list['Node']\n"
    "class S(dspy.Signature):\n    q: str = dspy.InputField()\n    tree: Node = dspy.OutputField()\n"
)

DESCRIBED = HEAD + (
    "class S(dspy.Signature):\n    q: str = dspy.InputField()\n    a: {} = dspy.OutputField(desc='{}')\n"
)


def lints(
    written: str,
    adapter: str = "chat",
    model: str = "openai/x",
    can: Capabilities = NONE,
    demos: Any = (),
    **params: Any,
) -> dict[str, Lint]:
    signature = notation.read(written)
    inputs = dict.fromkeys(signature.input_fields, "some text")
    made = prepare(catalog.make(adapter), signature, demos, inputs, can, model=model, params=params)
    profile = catalog.profile(adapter)
    found = prompt_lint.lint(signature, demos, inputs, profile, made.prompt, (), model, made.params, can)
    return {one.name: one for one in found}


MINI = Limits(vision=False, context=8_000, output=4_000)


def limit_lints(limits: Limits, text: str, written: str = "text -> a", **params: Any) -> dict[str, Lint]:
    signature = notation.read(written)
    inputs = {name: "https://example.com/a.png" if name == "photo" else text for name in signature.input_fields}
    demos = [{**dict.fromkeys(signature.fields, "x"), "a": "a"}] if "photo" not in inputs else []
    made = prepare(catalog.make("chat"), signature, demos, inputs, NONE, model="openai/x", params=params)
    found = prompt_lint.lint(
        signature,
        demos,
        inputs,
        catalog.profile("chat"),
        made.prompt,
        model="openai/x",
        params=made.params,
        limits_of=lambda model: limits,
    )
    names = ("image-without-vision", "context-too-small", "max-tokens-too-high")
    return {one.name: one for one in found if one.name in names}


def test_an_image_is_reported_for_a_model_that_is_known_to_take_none() -> None:
    found = limit_lints(MINI, "", "photo: dspy.Image -> a")
    assert found["image-without-vision"].place == Place("input", None, "photo")
    assert "openai/x accepts no images" in found["image-without-vision"].message
    for limits in (Limits(), Limits(vision=True)):
        assert not limit_lints(limits, "", "photo: dspy.Image -> a")


def test_a_request_is_compared_with_the_context_window_of_the_model() -> None:
    found = limit_lints(MINI, "word " * 10_000)["context-too-small"]
    assert "accepts 8,000" in found.message
    assert [fix.change for fix in found.fixes] == [{"demo": 1, "enabled": False}]
    assert not limit_lints(Limits(), "word " * 10_000) and not limit_lints(MINI, "word " * 3_000)


def test_a_max_tokens_above_what_the_model_writes_is_reported_with_the_highest() -> None:
    found = limit_lints(MINI, "x", max_tokens=5_000)["max-tokens-too-high"]
    assert [fix.change for fix in found.fixes] == [{"params": {"max_tokens": 4_000}}]
    assert not limit_lints(Limits(), "x", max_tokens=5_000) and not limit_lints(MINI, "x", max_tokens=4_000)


def test_limits_are_not_looked_up_for_ordinary_requests() -> None:
    def never(model: str) -> Limits:
        raise AssertionError(model)

    signature = notation.read("text -> a")
    made = prepare(catalog.make("chat"), signature, [], {"text": "x"}, NONE, model="openai/x", params={})
    profile = catalog.profile("chat")
    assert not prompt_lint.lint(signature, [], {"text": "x"}, profile, made.prompt, model="openai/x", limits_of=never)


@pytest.mark.parametrize(
    ("name", "severity", "written", "adapter", "more"),
    [
        ("code-as-xml", "warning", "task -> code: str", "xml", {}),
        ("code-as-xml", "warning", "task -> page: dspy.Code", "xml", {}),
        ("code-as-xml", "warning", "task -> body_html", "xml", {}),
        ("code-as-xml", "warning", "task -> sql_query", "xml", {}),
        ("code-as-xml", "warning", "task -> refactored_code", "xml", {}),
        ("code-as-json", "warning", "question -> html", "json", {}),
        ("formula-as-json", "warning", "question -> latex", "json", {}),
        ("formula-as-json", "warning", "question -> latex", "baml", {"can": SCHEMA}),
        ("all-keys-optional", "info", ACT, "json", {}),
        ("schema-rejected", "error", TREE, "json", {"can": SCHEMA, "model": "anthropic/claude-sonnet-4-5"}),
        ("media-as-output", "warning", "text -> picture: dspy.Image", "chat", {}),
        ("media-as-output", "warning", "text -> pictures: list[dspy.Image]", "json", {}),
        ("python-dict-asked", "info", "text -> facts: dict[str, Any]", "chat", {}),
        ("literal-of-booleans", "info", "text -> ok: Literal[True, False]", "chat", {}),
        ("literal-in-a-list", "info", "text -> tags: list[Literal['a', 'b']]", "chat", {}),
        ("none-stays-text-here", "info", "text -> middle_name: Optional[str]", "chat", {}),
        ("no-response-format", "info", "text -> a", "json", {}),
        ("reasoning-asked-twice", "info", "text -> reasoning, a", "chat", {"can": THINKS}),
        ("max-tokens-too-low", "warning", "text -> a, b", "chat", {"max_tokens": 20}),
        ("max-tokens-too-low", "warning", "text -> a", "chat", {"max_tokens": 500, "can": THINKS}),
        ("schema-rejected", "error", "text -> tags: set[str]", "json", {"can": SCHEMA}),
        ("schema-rejected", "error", "text -> pair: tuple[int, str]", "json", {"can": SCHEMA}),
        (
            "open-dict-closed-by-schema",
            "warning",
            HEAD + "class N(BaseModel):\n    metadata: dict[str, Any]\n"
            "class S(dspy.Signature):\n    q: str = dspy.InputField()\n    output: N = dspy.OutputField()\n",
            "json",
            {"can": SCHEMA},
        ),
        (
            "code-of-type-not-run",
            "info",
            HEAD + "class N(BaseModel):\n    a: int\n    @field_validator('a')\n    def check(cls, a): return a\n"
            "class S(dspy.Signature):\n    q: str = dspy.InputField()\n    output: N = dspy.OutputField()\n",
            "chat",
            {},
        ),
    ],
)
def test_what_is_reported_in_public_is_foreseen(
    name: str, severity: str, written: str, adapter: str, more: dict[str, Any]
) -> None:
    found = lints(written, adapter, **more)
    assert name in found
    assert found[name].severity == severity


@pytest.mark.parametrize("adapter", ["chat", "json", "xml", "baml", "twostep"])
@pytest.mark.parametrize(
    "written",
    [
        "question -> answer",
        "question, context: list[str] -> reasoning, answer, score: float",
        "text -> label: Literal['spam', 'ham'], country_code: str, zip_code: str",
        "text -> people: list[str], count: int, is_true: bool",
        "text -> icd_code: str, error_code: str, final_code: str, code_review: str",
        "image: dspy.Image, html: str -> caption: str",
    ],
)
def test_ordinary_signatures_have_no_warning(written: str, adapter: str) -> None:
    found = lints(written, adapter, "openai/x", SCHEMA, max_tokens=4000)
    about_outputs = {"media-as-output", "code-as-xml", "code-as-json", "formula-as-json", "all-keys-optional"}
    about_outputs |= {"schema-rejected", "open-dict-closed-by-schema"}
    assert not about_outputs & set(found)
    assert "max-tokens-too-low" not in found


def test_no_fix_of_code_in_json_is_an_adapter_that_has_a_warning_of_its_own() -> None:
    signature = notation.read("question -> html")
    given, profile = {"question": "x"}, catalog.profile("json")
    made = prepare(catalog.make("json"), signature, [], given, NONE, model="openai/x", params={})
    found = prompt_lint.lint(signature, [], given, profile, made.prompt, model="openai/x")
    fixes = [fix.change for one in found if one.name == "code-as-json" for fix in one.fixes]
    assert fixes == [{"adapter": "chat"}]


def test_only_what_goes_wrong_there_is_reported() -> None:
    assert "code-as-json" not in lints("question -> html", "json", can=SCHEMA), "a schema holds the model to JSON"
    assert "formula-as-json" not in lints("question -> latex", "chat")
    for kind, said in (
        ("str", "Plain text; do not use LaTeX."),
        ("bool", "True for LaTeX"),
        ("Literal['latex']", "latex"),
    ):
        assert "formula-as-json" not in lints(DESCRIBED.format(kind, said), "json")
    for kind, said in (("str", "In LaTeX, not HTML."), ("list[str]", "note: LaTeX"), ("Optional[str]", "LaTeX")):
        assert "formula-as-json" in lints(DESCRIBED.format(kind, said), "json")
    assert "schema-rejected" not in lints(TREE, "json", can=SCHEMA), "OpenAI takes recursive types"
    assert "all-keys-optional" not in lints(ACT.replace("open: Optional[str] = None", "open: str"), "json")


def test_the_limit_is_compared_with_the_longest_demo() -> None:
    demos = [{"text": "t", "a": "word " * 400}]
    assert "max-tokens-too-low" in lints("text -> a", demos=demos, max_tokens=200)
    assert "max-tokens-too-low" not in lints("text -> a", demos=demos, max_tokens=2000)


def test_a_fix_belongs_to_a_lint_that_exists() -> None:
    assert set(FIXES) <= set(LINTS)
    fix = lints("text -> ok: Literal[True, False]")["literal-of-booleans"].fixes[0]
    assert fix.change == {"field": "ok", "type": "bool"}


def test_a_recursive_schema_ends() -> None:
    written = (
        HEAD + "class Node(BaseModel):\n    name: str\n    children: list['Node']\n"
        "class S(dspy.Signature):\n    q: str = dspy.InputField()\n    tree: Node = dspy.OutputField()\n"
    )
    assert "open-dict-closed-by-schema" not in lints(written, "json", can=SCHEMA)
