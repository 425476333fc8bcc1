"""Lints for outputs whose type often fails under an adapter, and for the request."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, get_args, get_origin

from adapters.formats.profile import Profile
from adapters.lint.lint import Lint, Place
from adapters.lm.capabilities import split_model
from adapters.lm.litellm_answers import Limits
from adapters.prompts.text import Prompt
from adapters.replies.flag import named, shown
from adapters.replies.flags.wrong_places import known_keys
from adapters.requests.capabilities import Capabilities
from adapters.requests.token_estimates import of_message
from adapters.signatures.signature import Field, Signature, allows_none, without_none
from adapters.signatures.type_names import name_of, walk
from adapters.types.recognition import is_named

CODE = re.compile(
    r"(?:.*_)?(?:html|xml|svg|sql)|(?:html|xml|svg|sql)_(?:code|content|document|output|page|query|snippet|statement)|"
    r"(?:(?:source|generated|fixed|corrected|refactored|improved|optimi[sz]ed|updated|modified|revised|patched|"
    r"solution|test|complete|full|translated|kernel|executable|python|java|javascript|typescript|js|ts|react|rust|go|"
    r"cpp|c|cuda|sql|html|css|shell|bash|r)_)?code|(?:code|python)_(?:snippet|block|solution|implementation)"
)
"""Names of text outputs that probably contain `<` and `&`."""
FORMULA = re.compile(r"(?:.*_)?(?:latex|tex|formulas?|equations?|reg_?ex(?:p|es)?)")
"""Names of text outputs that probably contain backslashes."""
LATEX = re.compile(r"(?:\b(no|not|without|never|avoid)\b[^.;]{0,40})?\blatex", re.IGNORECASE)
MEDIA = ("Image", "Audio", "File")
STRICT_PROVIDERS = ("openai", "azure")
NO_RECURSION = ("anthropic",)
"""Providers whose structured outputs reject recursive types."""
REFERENCE = re.compile(r'"#/\$defs/([^"]+)"')
NOT_TAKEN = ("oneOf", "uniqueItems", "prefixItems", "propertyNames", "patternProperties", "not")
"""Keywords in a strict schema that OpenAI rejects with an error 400."""
THOUGHTS = 1000
"""Tokens that a reasoning model may need before its answer."""
SMALLEST_CONTEXT = 2000
"""Tokens below which no request or reply reaches a model's limits."""
A_FIELD = 12
"""Minimum tokens of an output, with its name."""


def output_lints(signature: Signature, profile: Profile) -> Iterator[Lint]:
    """Find outputs whose type models often answer in a form that the parser rejects."""
    for name, field in signature.output_fields.items():
        place, parts = Place("field", None, name), list(walk(field.annotation))
        media = next((one for one in MEDIA if any(is_named(part, one) for part in parts)), None)
        if media is not None:
            yield Lint(
                "media-as-output",
                f"`{name}` is an output of type {media}: a model that writes text can only invent an address.",
                place,
            )
        if profile.reply == "xml" and _holds_code(field):
            yield Lint(
                "code-as-xml",
                f"`{name}` may contain < or &, which XML allows only as &lt; and &amp;: models forget it.",
                place,
            )
        if profile.reply in ("json", "fenced json") and _has_backslashes(field, parts):
            yield Lint(
                "formula-as-json",
                f"`{name}` most likely contains backslashes, which JSON allows only doubled: \\frac turns into a form "
                "feed and rac.",
                place,
            )
        loose = next((one for one in parts if _is_all_optional(one)), None)
        if loose is not None:
            yield Lint(
                "all-keys-optional",
                f"Every key of {name_of(loose)} in `{name}` is optional: a reply with other JSON keys parses as an "
                "empty value, without an error.",
                place,
            )
        written = (field.annotation, *get_args(field.annotation))
        if profile.reply != "prose" and any(get_origin(part) is dict for part in written):
            yield Lint(
                "python-dict-asked",
                f"The prompt asks for a Python dict in `{name}`, and the parser reads JSON: None, True and single "
                "quotes are left to a repair.",
                place,
            )
        yield from _literals(field, parts, place)
        if profile.reads_values_as_text and str in get_args(field.annotation) and allows_none(field.annotation):
            yield Lint(
                "none-stays-text-here",
                f"`{name}` may be text or None, and its value is read as text: None or null stays a word.",
                place,
            )
        if field.unchecked:
            code = ", ".join(field.unchecked[:3]) + (", …" if len(field.unchecked) > 3 else "")
            yield Lint(
                "code-of-type-not-run",
                f"dspy runs {code} on `{name}`; a signature read from source is never run, so parse results are "
                "uncertain.",
                place,
            )


def _holds_code(field: Field) -> bool:
    is_text = field.annotation is str and CODE.fullmatch(field.name.lower()) is not None
    return is_text or is_named(field.annotation, "Code")


def _has_backslashes(field: Field, parts: Sequence[object]) -> bool:
    if without_none(field.annotation) in (str, list[str]) and FORMULA.fullmatch(field.name.lower()) is not None:
        return True
    described = LATEX.search(field.description)
    return described is not None and described[1] is None and any(part is str for part in parts)


def _is_all_optional(part: Any) -> bool:
    """Return True for a model with two keys or more, all optional, that ignores other JSON keys."""
    known = known_keys(part)
    members = getattr(part, "model_fields", {}).values()
    return known is not None and len(members) > 1 and not any(one.is_required() for one in members)


def _literals(field: Field, parts: Sequence[object], place: Place) -> Iterator[Lint]:
    values = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
    if values and set(map(type, values)) == {bool} and len(values) == 2:
        yield Lint("literal-of-booleans", f"`{field.name}` is Literal[True, False]; bool is the same.", place)
    inside = [one for part in parts if get_origin(part) in (list, set, dict) for one in get_args(part)]
    literal = next((one for one in inside if get_origin(one) is Literal), None)
    if literal is not None:
        yield Lint(
            "literal-in-a-list",
            f"One item of `{field.name}` other than {named(list(map(shown, get_args(literal))))} rejects the field.",
            place,
        )


def request_lints(
    signature: Signature,
    profile: Profile,
    prompt: Prompt | None,
    params: Mapping[str, Any],
    model: str | None,
    capabilities: Capabilities,
) -> Iterator[Lint]:
    """Find parameters and models that do not fit the outputs."""
    if prompt is None or model is None or not signature.output_fields:
        return
    chosen = params.get("response_format")
    if isinstance(chosen, Mapping) and chosen.get("type") == "json_schema":
        yield from _schema_lints(chosen.get("json_schema", {}).get("schema", {}), model)
    elif profile.reply == "json" and chosen is None and not model.startswith("offline/"):
        yield Lint(
            "no-response-format",
            f"Nothing forces {model} to reply in JSON: as far as known, it does not support response_format.",
            Place("column"),
        )
        for name in [name for name, field in signature.output_fields.items() if _holds_code(field)]:
            yield Lint(
                "code-as-json",
                f"`{name}` may contain quotes and line breaks, which JSON escapes, and nothing forces {model} "
                "to reply in JSON.",
                Place("field", None, name),
            )
    reasoning = signature.output_fields.get("reasoning")
    if capabilities.reasoning and reasoning is not None and reasoning.annotation is str:
        is_added = reasoning.desc == "${reasoning}"  # by ChainOfThought
        yield Lint(
            "reasoning-asked-twice",
            f"{model} reasons by itself, and `reasoning` asks for it again as text.",
            Place("prompt" if is_added else "field", None, "reasoning"),
        )
    limit = params.get("max_completion_tokens", params.get("max_tokens"))
    if isinstance(limit, int) and not isinstance(limit, bool):
        # Estimate the tokens of a reply from demo answers, or a minimum for each output.
        answers = [one for one in prompt.messages if one.role == "assistant" and one.turn.startswith("demo ")]
        needed = max([A_FIELD * len(signature.output_fields), *map(of_message, answers)])
        thoughts = THOUGHTS if capabilities.reasoning else 0
        if limit < needed + thoughts:
            more = f", and its thoughts count too (about {thoughts:,})" if thoughts else ""
            yield Lint(
                "max-tokens-too-low",
                f"max_tokens is {limit:,}; a reply needs about {needed:,}{more}. It would be cut off.",
                Place("column"),
            )


def limit_lints(
    signature: Signature,
    prompt: Prompt | None,
    params: Mapping[str, Any],
    model: str | None,
    inputs: Mapping[str, Any],
    limits_of: Callable[[str], Limits] | None,
) -> Iterator[Lint]:
    """Compare images, the length of the request and `max_tokens` with the limits of the model, as far as known."""
    if prompt is None or model is None or limits_of is None:
        return
    images = [
        name
        for name, field in signature.input_fields.items()
        if inputs.get(name) and any(is_named(part, "Image") for part in walk(field.annotation))
    ]
    length = sum(map(of_message, prompt.messages))
    limit = params.get("max_completion_tokens", params.get("max_tokens"))
    asked = limit if isinstance(limit, int) and not isinstance(limit, bool) else 0
    if not images and length < SMALLEST_CONTEXT and asked < SMALLEST_CONTEXT:
        return
    limits = limits_of(model)
    if images and limits.vision is False:
        place = Place("input", None, images[0])
        yield Lint("image-without-vision", f"{model} accepts no images, and `{images[0]}` has one.", place)
    if limits.context is not None and length > limits.context:
        demos = [(of_message(one), one.turn) for one in prompt.messages if one.turn.startswith("demo ")]
        longest = max(demos, default=(0, ""))[1].partition(" ")[2]
        place = Place("demo", int(longest)) if longest.isdecimal() else Place("prompt")
        said = f"The request has about {length:,} tokens, and {model} accepts {limits.context:,}."
        yield Lint("context-too-small", said, place)
    if limits.output is not None and asked > limits.output:
        said = f"max_tokens is {asked:,}, and {model} writes at most {limits.output:,}: its provider may reject it."
        yield Lint("max-tokens-too-high", said, Place("column", limits.output))


def _schema_lints(schema: Any, model: str) -> Iterator[Lint]:
    parts = list(_parts("", schema))
    for path, part in parts:
        if part.get("type") == "object" and not part.get("properties") and part.get("additionalProperties") is False:
            yield Lint(
                "open-dict-closed-by-schema",
                f"The strict schema allows no JSON key in {path}: a dict in a model or list can only come back empty.",
                _field_place(path),
            )
    provider = split_model(model)[0]
    if provider in NO_RECURSION:
        definitions = schema.get("$defs") or {}
        refers = {name: {*REFERENCE.findall(json.dumps(one))} for name, one in definitions.items()}
        for _ in refers:
            refers = {
                name: inside.union(*[refers.get(one, set()) for one in inside]) for name, inside in refers.items()
            }
        for name in [name for name, inside in refers.items() if name in inside][:1]:
            yield Lint("schema-rejected", f"{provider} rejects this schema: {name} contains itself.", Place("column"))
    if provider in STRICT_PROVIDERS:
        for word in NOT_TAKEN:
            places = [path for path, part in parts if word in part]
            if places:
                yield Lint(
                    "schema-rejected",
                    f"{provider} rejects this schema: '{word}' in {places[0]} is not permitted.",
                    _field_place(places[0]),
                )


def _field_place(path: str) -> Place:
    name = re.split(r"[.\[]", path)[0]
    return Place("field", None, name) if name.isidentifier() else Place("column")


def _parts(path: str, schema: object, seen: int = 0) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each object of a schema with its path, or its definition's name."""
    if not isinstance(schema, Mapping) or seen > 40:
        return
    yield path or "the outputs", schema
    for name, one in (schema.get("properties") or {}).items():
        yield from _parts(f"{path}.{name}".lstrip("."), one, seen + 1)
    for name, one in (schema.get("$defs") or {}).items():
        yield from _parts(f"({name})", one, seen + 1)
    yield from _parts(f"{path}[]", schema.get("items"), seen + 1)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        for one in schema.get(key) or ():
            yield from _parts(path, one, seen + 1)
