"""Each of the 158 known surprises is told: by a flag, a lint or a near miss, or there is a reason why not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from oracle.corpus import cases
from oracle.specs import Built, build_with_own_types
from oracle.tagged import decode

from adapters.formats.catalog import make
from adapters.lint import LINTS, lint, round_trip
from adapters.replies.flags.glossary import FLAGS
from adapters.replies.reading import Reading
from adapters.requests.capabilities import Capabilities
from adapters.requests.request import postprocess, prepare

FLAG, LINT, NEAR_MISS, NOT_SHOWN = "flag", "lint", "near miss", "not shown, because"

CLAIMS: Mapping[str, tuple[str, str]] = {
    "chat-preamble-dropped": (FLAG, "preamble-dropped"),
    "chat-after-completed-dropped": (FLAG, "after-completed-dropped"),
    "chat-completed-optional": (FLAG, "completed-marker-missing"),
    "chat-truncated-completed-leaks": (FLAG, "cut-off-marker-in-value"),
    "chat-completed-same-line": (FLAG, "completed-marker-in-value"),
    "chat-first-duplicate-wins": (FLAG, "duplicate-marker-first-wins"),
    "chat-think-draft-wins": (FLAG, "marker-inside-think"),
    "chat-duplicate-bad-first-fails": (FLAG, "duplicate-marker-first-wins"),
    "chat-marker-midline-ignored": (FLAG, "marker-in-value"),
    "chat-marker-decorated": (NEAR_MISS, "meant as a marker"),
    "chat-marker-case": (FLAG, "marker-in-another-case"),
    "chat-marker-spacing": (NEAR_MISS, "meant as a marker"),
    "chat-bom": (NEAR_MISS, "meant as a marker"),
    "chat-content-same-line": (FLAG, "text-on-the-marker-line"),
    "chat-indented-marker-corrupts": (FLAG, "indented-marker-leaks"),
    "chat-indented-marker-corrupts-nl": (FLAG, "indented-marker-leaks"),
    "chat-unknown-field-ignored": (FLAG, "unknown-section-ignored"),
    "chat-unknown-marker-cuts-value": (FLAG, "value-ended-by-unknown-marker"),
    "chat-strip": (FLAG, "first-indent-lost"),
    "chat-splitlines": (FLAG, "line-breaks-rewritten"),
    "chat-crlf": (FLAG, "line-breaks-rewritten"),
    "chat-u2028-in-json": (FLAG, "line-breaks-rewritten"),
    "chat-fence-around": (FLAG, "fence-in-value"),
    "chat-all-optional-refusal": (FLAG, "all-outputs-filled-in"),
    "chat-default-hides-typo": (FLAG, "marker-in-another-case"),
    "chat-json-not-accepted": (NEAR_MISS, "format of the JSON adapter"),
    "bool-yes": (FLAG, "bool-from-a-word"),
    "bool-period": (FLAG, "words-around-value"),
    "bool-comment": (FLAG, "python-literal"),
    "int-true": (FLAG, "number-from-bool"),
    "int-hex": (FLAG, "python-literal"),
    "int-thousands": (FLAG, "digits-grouped"),
    "json-list-thousands": (FLAG, "number-split-at-comma"),
    "int-percent-json": (FLAG, "percent-sign-dropped"),
    "int-paren": (FLAG, "brackets-dropped"),
    "literal-case": (FLAG, "value-in-another-case"),
    "literal-wrapper": (FLAG, "literal-unwrapped"),
    "literal-wrapper-optional": (FLAG, "literal-wrapper-in-optional"),
    "enum-quoted": (FLAG, "enum-in-quotes"),
    "enum-optional-quoted": (NOT_SHOWN, "the value is the one that was meant"),
    "enum-optional-name": (FLAG, "enum-name-in-optional"),
    "enum-int-text": (FLAG, "enum-value-is-no-text"),
    "enum-json-list-typeerror": (FLAG, "enum-from-a-container"),
    "optional-str-none": (FLAG, "none-stays-text"),
    "optional-int-none": (NOT_SHOWN, "the value is the one that was meant"),
    "union-str-int-none": (FLAG, "text-wins-in-union"),
    "union-int-str": (NOT_SHOWN, "a number read as a number surprises nobody; its steps tell how"),
    "str-null-json": (FLAG, "null-became-text"),
    "str-null-json-default": (FLAG, "null-became-text"),
    "str-list-json": (FLAG, "python-text-of-a-value"),
    "any-invents": (FLAG, "brackets-in-prose-taken"),
    "any-ellipsis": (FLAG, "ellipsis"),
    "any-tuple": (FLAG, "python-literal"),
    "list-two-lists": (FLAG, "several-values-one-taken"),
    "toolcalls-jsonl": (FLAG, "several-values-one-taken"),
    "list-single-word": (FLAG, "list-expected"),
    "list-str-ints": (FLAG, "items-are-no-text"),
    "datetime-year": (FLAG, "date-from-number"),
    "decimal-float": (FLAG, "decimal-through-float"),
    "float-nan": (FLAG, "not-a-finite-number"),
    "huge-int": (FLAG, "number-too-long"),
    "constraints-ignored": (FLAG, "constraint-not-enforced"),
    "constraints-annotated-ignored": (FLAG, "constraint-not-enforced"),
    "model-enum-name": (FLAG, "enum-name-inside-model"),
    "model-wrapped": (FLAG, "value-wrapped"),
    "model-extra-dropped": (FLAG, "extra-keys-of-value-dropped"),
    "windows-path": (FLAG, "backslash-is-an-escape"),
    "json-two-objects-last": (FLAG, "several-objects"),
    "json-two-objects-comma-first": (FLAG, "several-objects"),
    "json-two-objects-different": (FLAG, "several-objects"),
    "json-think-braces": (FLAG, "object-inside-think"),
    "json-brace-in-array-string": (FLAG, "list-at-the-root"),
    "json-case": (FLAG, "key-in-another-case"),
    "json-wrapped": (NEAR_MISS, "one level down"),
    "json-list-root": (FLAG, "list-at-the-root"),
    "json-truncated-key": (FLAG, "cut-off-json-completed"),
    "json-missing-value": (FLAG, "value-invented"),
    "json-triple-quotes": (FLAG, "text-lost-in-repair"),
    "json-time-unquoted": (FLAG, "text-lost-in-repair"),
    "json-some-key": (FLAG, "key-of-several-words"),
    "json-neg-infinity": (FLAG, "minus-sign-lost"),
    "json-comment-hash": (FLAG, "json-repaired"),
    "json-dup-keys": (FLAG, "duplicate-key-last-wins"),
    "json-deep-recursion": (FLAG, "leaked-error"),
    "json-open-braces": (FLAG, "leaked-error"),
    "literal-eval-memoryerror": (FLAG, "leaked-error"),
    "xml-amp": (FLAG, "xml-ampersand"),
    "xml-lt": (FLAG, "xml-less-than"),
    "xml-html-entity": (FLAG, "xml-entity-unknown"),
    "xml-br": (FLAG, "xml-tag-not-closed"),
    "xml-cdata-end": (FLAG, "xml-cdata-end"),
    "xml-dup-str": (FLAG, "repeated-tag-became-list-text"),
    "xml-wrapped": (FLAG, "tag-around-everything"),
    "xml-nested-field": (FLAG, "field-inside-another"),
    "xml-attrs-ignored": (FLAG, "xml-attributes-ignored"),
    "xml-empty-optional": (FLAG, "empty-tag-became-none"),
    "xml-list-csv": (FLAG, "text-became-one-item"),
    "xml-list-othertags": (FLAG, "children-kept-as-text"),
    "xml-list-mixed": (FLAG, "children-dropped"),
    "xml-markup-kept": (FLAG, "markup-kept-in-text"),
    "xml-code-markup": (FLAG, "tags-read-as-object"),
    "xml-namespace": (FLAG, "xml-namespace"),
    "xml-declaration": (FLAG, "xml-declaration"),
    "xml-surrogate": (FLAG, "lone-surrogate"),
    "xml-control": (FLAG, "xml-control-character"),
    "xml-case": (FLAG, "tag-in-another-case"),
    "xml-alias-names": (FLAG, "alias-expected"),
    "code-first-fence": (FLAG, "only-the-first-fence"),
    "code-literal": (FLAG, "code-was-evaluated"),
    "code-lang-line": (FLAG, "code-on-the-fence-line"),
    "reasoning-json": (FLAG, "brackets-in-prose-taken"),
    "image-typeerror": (FLAG, "leaked-error"),
    "reasoning-substring": (FLAG, "leaked-error"),
    "fallback-second-call": (NEAR_MISS, "format of the JSON adapter"),
    "fallback-error-is-json": (NOT_SHOWN, "every attempt is shown with its own reply, reading and error"),
    "fallback-not-on-typeerror": (FLAG, "leaked-error"),
    "xml-falls-back-too": (FLAG, "xml-ampersand"),
    "n-one-bad-all-redone": (NOT_SHOWN, "an attempt shows each of its completions with a reading"),
    "whitespace-vs-empty": (FLAG, "all-outputs-filled-in"),
    "native-tool-missing-fields": (FLAG, "none-beside-a-tool-call"),
    "fmt-incomplete-first": (LINT, "demo-moved"),
    "fmt-demo-dropped": (LINT, "demo-dropped"),
    "fmt-none-is-incomplete": (LINT, "demo-filled-in"),
    "fmt-history-makes-incomplete": (LINT, "history-makes-demo-incomplete"),
    "fmt-list-to-str-blob": (LINT, "list-in-a-text-field"),
    "fmt-list-to-str-crash": (LINT, "list-in-a-text-field-crashes"),
    "fmt-custom-type-injection": (LINT, "custom-type-marker-in-value"),
    "fmt-marker-injection": (LINT, "marker-in-value"),
    "fmt-xml-input-unescaped": (LINT, "tag-in-value"),
    "fmt-xml-cdata-roundtrip": (LINT, "demo-does-not-read-back"),
    "fmt-baml-reuse": (LINT, "baml-model-used-twice"),
    "fmt-baml-drops-desc-note": (LINT, "baml-asks-for-markers"),
    "fmt-twostep-history": (LINT, "history-printed-as-text"),
    "fmt-twostep-image": (LINT, "custom-type-stays-text"),
    "fmt-json-demo-image": (LINT, "custom-type-stays-text"),
    "fmt-extra-input-ignored": (LINT, "extra-input-ignored"),
    "fmt-missing-input-silent": (LINT, "missing-input"),
    "fmt-type-not-checked": (LINT, "value-of-another-type"),
    "fmt-default-not-applied": (LINT, "default-not-applied"),
    "fmt-desc-placeholder": (
        NOT_SHOWN,
        "dspy gives every field this description, so a written one cannot be told apart",
    ),
    "fmt-trailing-space": (NOT_SHOWN, "a space at the end of a line; the prompt view marks it"),
    "fmt-instructions-splitlines": (LINT, "instructions-lines-split"),
    "fmt-set-order": (LINT, "set-order"),
    "fmt-history-reminder": (NOT_SHOWN, "the reminder stands in the prompt, marked as one, in every turn that has it"),
    "fmt-history-none": (LINT, "history-turn-prints-none"),
    "fmt-no-inputs-given": (LINT, "no-inputs"),
    "fmt-completed-field": (LINT, "output-named-completed"),
    "fmt-enum-values": (LINT, "enum-values-do-not-parse"),
    "fmt-alias-demo": (LINT, "demo-shows-field-names"),
    "fmt-baml-alias": (LINT, "alias-not-shown"),
    "fmt-json-fake-value": (LINT, "demo-filled-in"),
    "fmt-demo-value-not-checked": (LINT, "value-of-another-type"),
    "fmt-model-as-dict": (LINT, "value-of-another-type"),
    "json-error-loses-response": (FLAG, "error-shows-a-part"),
    "prose-memoryerror": (FLAG, "leaked-error"),
    "chat-value-error-stops": (FLAG, "fields-lost-with-the-error"),
    "json-str-bool-title": (FLAG, "bool-became-text"),
    "json-curly-fullwidth": (FLAG, "full-width-punctuation"),
}

MOMENTS = {case["id"]: case for case in cases("teaching_moments")}
TOLD = [name for name, (kind, _) in CLAIMS.items() if kind != NOT_SHOWN]


def reading_of(case: Mapping[str, Any], built: Built) -> Reading:
    """The reading of a moment's reply; of a whole call, that of the first reply as the call would read it."""
    adapter = make(case["adapter"], case.get("opts") or {})
    if case["kind"] == "parse":
        return adapter.read(built.ours, decode(case["completion"], built.namespace))
    capabilities = Capabilities(function_calling=bool(case["lm"].get("fc")))
    request = prepare(adapter, built.ours, [], decode(case["inputs"], built.namespace), capabilities)
    return postprocess(adapter, request, built.ours, case["script"][0][0]).reading


def lint_names(case: Mapping[str, Any], built: Built) -> Iterable[str]:
    demos = [decode(demo, built.namespace) for demo in case.get("demos", ())]
    inputs = decode(case["inputs"], built.namespace)
    if case.get("history") is not None:
        inputs["history"] = built.namespace["History"](messages=decode(case["history"], built.namespace))
    adapter = make(case["adapter"])
    try:
        prompt = adapter.render(built.ours, demos, dict(inputs))
    except (TypeError, ValueError):
        prompt = None
    found = (*lint(built.ours, demos, inputs, adapter.profile, prompt), *round_trip(adapter, built.ours, demos))
    return [one.name for one in found]


def test_every_known_surprise_is_claimed_once() -> None:
    assert set(CLAIMS) == set(MOMENTS)
    assert len(CLAIMS) == 158


@pytest.mark.parametrize("name", TOLD)
def test_the_surprise_is_told(name: str) -> None:
    kind, told_by = CLAIMS[name]
    case = MOMENTS[name]
    built = build_with_own_types(case["signature"])
    if kind == FLAG:
        assert told_by in FLAGS
        assert told_by in [flag.name for flag in reading_of(case, built).flags]
    elif kind == LINT:
        assert told_by in LINTS
        assert told_by in lint_names(case, built)
    else:
        misses = reading_of(case, built).near_misses
        assert told_by in misses[0].message
        assert misses[0].reading.ok


def test_few_surprises_are_left_untold() -> None:
    untold = {name: reason for name, (kind, reason) in CLAIMS.items() if kind == NOT_SHOWN}
    assert all(untold.values())
    assert len(untold) <= 8


NEAR_MISSES = {
    "chat-marker-midline-ignored": {"reasoning": "because.", "answer": "42"},
    "chat-marker-decorated": {"answer": "42"},
    "chat-marker-case": {"answer": "42"},
    "chat-marker-spacing": {"answer": "42"},
    "chat-bom": {"answer": "42"},
    "chat-json-not-accepted": {"answer": "42"},
    "chat-completed-same-line": {"answer": "Paris"},
    "chat-think-draft-wins": {"answer": "42"},
    "chat-indented-marker-corrupts-nl": {"answer": "Paris"},
    "chat-fence-around": {"answer": "42"},
    "chat-default-hides-typo": {"n": 9},
    "int-thousands": {"n": 1234},
    "literal-case": {"c": "yes"},
    "list-single-word": {"v": ["a", "b"]},
    "json-wrapped": {"answer": "x"},
    "json-case": {"answer": "x"},
    "json-think-braces": {"answer": "x"},
    "json-two-objects-different": {"answer": "x"},
    "json-curly-fullwidth": {"reasoning": "r", "answer": "a"},
    "xml-amp": {"answer": "42"},
    "xml-lt": {"answer": "x < y"},
    "xml-br": {"answer": "a<br>b"},
    "xml-case": {"answer": "42"},
    "xml-wrapped": {"answer": "42"},
    "xml-namespace": {"answer": "42"},
    "xml-declaration": {"answer": "42"},
    "xml-cdata-end": {"answer": "a[b[0]]>1"},
}


@pytest.mark.parametrize("name", NEAR_MISSES)
def test_the_first_near_miss_reads_what_was_meant(name: str) -> None:
    case = MOMENTS[name]
    misses = reading_of(case, build_with_own_types(case["signature"])).near_misses
    assert dict(misses[0].reading.values) == NEAR_MISSES[name]
    assert misses[0].reading.completion == misses[0].mended
