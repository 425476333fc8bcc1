"""Export a promptfoo config: a prompt and provider per column, a test per case, inputs as variables.

promptfoo renders prompts, provider configs and assertions with Nunjucks, renders anything like `{{ env.NAME }}` when it
loads the file, and opens variables that begin with `file://`. None of that may happen to a session's text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.lm.capabilities import split_model
from adapters.lm.secrets import map_texts
from sessions.exports import exported
from sessions.exports.endpoints import OFFLINE, key_goes_there, plain_address
from sessions.exports.exported import Exported, ExportError, Source, View, switched_off
from sessions.exports.template import Part, Piece, Slot, parts_of, slots_of, written
from sessions.imports.proposing import values_by_key
from sessions.running.recording import as_json

PROVIDERS: Mapping[str, str] = {
    "openai": "openai:chat:",
    "anthropic": "anthropic:messages:",
    "gemini": "google:",
    "mistral": "mistral:",
    "groq": "groq:",
    "deepseek": "deepseek:",
    "openrouter": "openrouter:",
    "ollama_chat": "ollama:chat:",
    "ollama": "ollama:completion:",
    "xai": "xai:",
}
"""promptfoo's prefix for each litellm provider."""

NUNJUCKS_WORDS = ("true", "false", "none", "null", "env", "loop", "super", "caller", "range", "cycler", "joiner")
"""Names with another meaning in a template."""

SEPARATORS = ("\u2060", "\u200b", "\u2063", "\u2064")
"""Invisible characters; one that is in no value breaks up sequences that promptfoo would act on."""

_OPENING = re.compile(r"\{[{%#]|#\}")
"""Sequences that Nunjucks interprets outside of tags; it rejects the end of a comment that never began."""
_TAG = re.compile(r"\{(?=[{%#])")
_ACTED_UPON = re.compile(
    r"\A(?:file|package|python|exec|https?|huggingface|portkey|langfuse|helicone):|\n\Z|\{\{|\{%|\{#"
)
_LARGEST_REFERENCE_DEPTH = 50


def promptfoo(source: Source) -> Exported:
    """Export the config as JSON, which is valid YAML. Raises ExportError for a recursive schema."""
    left = list(switched_off(source.first.session, source.cases))
    prompts: dict[str, dict[str, str]] = {}
    of_test: dict[str, list[str]] = {}
    providers: list[dict[str, Any]] = []
    variables: dict[str, dict[str, str]] = {}
    parts_by_view: list[tuple[View, list[Part]]] = []
    for view in source.views:
        parts_by_view.append((view, []))
        for part in parts_of(view):  # escape everything except texts: addresses, file names, tool calls
            content = part.content
            if isinstance(content, list):
                content = [one if isinstance(one, tuple) else _escaped(one) for one in content]
            parts_by_view[-1][1].append(Part(part.role, content, _escaped(dict(part.extra))))
    guards = _guards([slots_of(parts) for _, parts in parts_by_view])
    for column in source.columns:
        own = [(view, parts) for view, parts in parts_by_view if view.column.id == column.id]
        labels: list[str] = []
        for view, parts in own:
            left += [note for note in view.request.prompt.notes if note not in left]
            variables.setdefault(view.case.name, {}).update(slots_of(parts))
            raw = exported.readable(written(parts, lambda pieces: _nunjucks(pieces, guards)))
            label = next((one for one in labels if prompts[one]["raw"] == raw), None)
            if label is None:
                label = _shown(column.id if not labels else f"{column.id}, {view.case.name}")
                labels.append(label)
                prompts[label] = {"label": label, "raw": raw}
            of_test.setdefault(view.case.name, []).append(label)
        providers.append(_provider(own[0][0], labels, source, left))
    tests = [
        {
            "description": _shown(name),
            "vars": {_variable(field): _guarded(value, guards.get(field)) for field, value in values.items()},
            "prompts": of_test[name],
        }
        for name, values in variables.items()
    ]
    if any(view.case.expect for view in source.views):
        left.append("what the cases expect of values: promptfoo sees the text of a reply alone")
    config = {
        "description": _shown(source.name),
        "prompts": list(prompts.values()),
        "providers": providers,
        "tests": tests,
    }
    return Exported(exported.readable(config) + "\n", tuple(left))


def _provider(view: View, labels: Sequence[str], source: Source, left: list[str]) -> dict[str, Any]:
    if view.model.startswith(OFFLINE):
        said = f"the model {view.model}, which only the workbench has: promptfoo's echo, which repeats the prompt"
        if said not in left:
            left.append(said)
        return {"id": "echo", "label": _shown(view.column.id), "prompts": list(labels)}
    provider, name = split_model(view.model)
    config = _inlined(as_json(dict(view.request.params)))
    if _TAG.search(exported.one_line(config)):
        # Break up tags; escapes would be lost, because promptfoo renders provider configs more than once.
        config = map_texts(config, lambda text: _TAG.sub("{" + SEPARATORS[0], text))
        left.append(
            f"{view.column.id}: in its parameters an invisible sign breaks up {{{{, which promptfoo would render"
        )
    address = plain_address(view)
    if address is not None:
        config["apiBaseUrl"] = address
        allowed, said_of_key = key_goes_there(view, source)
        if not allowed:
            config["apiKey"] = "no-key"
            left += said_of_key
    name = _shown(name)
    id = f"{PROVIDERS[provider]}{name}" if provider in PROVIDERS else f"litellm:{_shown(view.model)}"
    shown = {"id": id, "label": _shown(view.column.id), "prompts": list(labels)}
    return {**shown, "config": config} if config else shown


def _shown(text: str) -> str:
    """Break up template tags in a displayed name, in case promptfoo renders it."""
    return _TAG.sub("{ ", text)


def _variable(field: str) -> str:
    return f"{field}_" if field in NUNJUCKS_WORDS else field


def _nunjucks(pieces: tuple[Piece, ...], guards: Mapping[str, str]) -> str:
    """Write a template that renders to the text; tag openings, and `{` before a slot, become strings in tags."""
    text = ""
    for index, piece in enumerate(pieces):
        if isinstance(piece, Slot):
            guard = guards.get(piece.field)
            text += f'{{{{ {_variable(piece.field)}{f""" | replace("{guard}", "")""" if guard else ""} }}}}'
        elif piece.endswith("{") and index + 1 < len(pieces):
            text += _escaped(piece[:-1]) + '{{ "{" }}'
        else:
            text += _escaped(piece)
    return text


def _escaped(value: object) -> Any:
    """Escape the texts in data so that Nunjucks renders them to the original."""
    return map_texts(value, lambda text: _OPENING.sub(lambda found: f'{{{{ "{found[0]}" }}}}', text))


def _guards(slots: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Choose an invisible character for each field with a value that promptfoo would act on."""
    guards: dict[str, str] = {}
    for field, found in values_by_key(slots).items():
        if any(_ACTED_UPON.search(one) for one in found):
            sign = next((sign for sign in SEPARATORS if not any(sign in one for one in found)), None)
            if sign is None:
                raise ExportError(
                    f"the values of {field} contain every character that could keep promptfoo from interpreting them"
                )
            guards[field] = sign
    return guards


def _guarded(value: str, guard: str | None) -> str:
    if guard is None:
        return value
    broken = _TAG.sub("{" + guard, value)
    broken = re.sub(r"\A(\w+)(?=:)", rf"\1{guard}", broken)
    return broken + guard if broken.endswith("\n") else broken


def _inlined(value: object, root: object = None, depth: int = 0) -> Any:
    """Inline `$ref` in a JSON schema: promptfoo resolves references from the top of the config, which lacks `$defs`."""
    if depth > _LARGEST_REFERENCE_DEPTH:
        raise ExportError(
            "the JSON schema of the reply contains itself, which promptfoo cannot load; the export as request can"
        )
    if isinstance(value, dict):
        top = value if "$defs" in value else root
        reference = value.get("$ref")
        if isinstance(reference, str) and isinstance(top, dict) and reference.startswith("#/$defs/"):
            found = top.get("$defs", {}).get(reference.removeprefix("#/$defs/"))
            beside = {key: one for key, one in value.items() if key != "$ref"}
            return _inlined({**found, **beside} if isinstance(found, dict) else beside, top, depth + 1)
        return {key: _inlined(one, top, depth + 1) for key, one in value.items() if key != "$defs"}
    return [_inlined(one, root, depth + 1) for one in value] if isinstance(value, list) else value
