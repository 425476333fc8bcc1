"""A child process that renders and reads fixtures with the dspy installed beside it, whatever its version.

Run as a script, `python -I upstream_worker.py FOLDER`, with FOLDER that of our packages. dspy is imported first, so
that what both need (pydantic, json_repair) is what its environment has. Says `{"dspy": VERSION}`, then answers one
line a question: `{"session": TEXT}` (kept for what follows), `{"case": …, "column": …}` → `{"attempts": [{"messages",
"request", "readings"}]}` or `{"error": …}`. It sends nothing, and opens no file and no address that a session names.

Each attempt is a whole call of dspy's adapter, with a model of the recorded capabilities that answers what was
recorded: what that is asked (messages, `response_format`, the signature's tools) is the request, and what the adapter
returns (native parts included) the reading.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import json
import os
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import IO, Any

import dspy

MODULES = {
    "chat": ("dspy", "ChatAdapter"),
    "json": ("dspy", "JSONAdapter"),
    "xml": ("dspy.adapters.xml_adapter", "XMLAdapter"),
    "baml": ("dspy.adapters.baml_adapter", "BAMLAdapter"),
    "twostep": ("dspy.adapters.two_step_adapter", "TwoStepAdapter"),
}
OURS = ("adapters", "sessions")
MARKERS_OF_A_FETCH = ("data:", "http://", "https://")
"""How an image's address may begin that dspy puts into a prompt as it is; it would open any other as a file."""


class OwnPackages(importlib.abc.MetaPathFinder):
    """Finds the workbench's own packages in its folder, and nothing else there.

    Installed from a wheel they stand beside another dspy, another pydantic and their metadata, which are not those of
    this environment.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in OURS:
            return None
        return importlib.machinery.PathFinder.find_spec(fullname, [self._folder], target)


class NotShownError(Exception):
    """A fixture that this dspy cannot be shown; the message says why."""


class AskedAgainError(BaseException):
    """The adapter asks a second time (its fallback), which is another attempt; no `except Exception` may catch it."""


class Scripted(dspy.BaseLM):  # type: ignore[misc]
    """A model of given capabilities that answers what was recorded, calls nobody, and keeps what it was asked."""

    def __init__(self, answer: Any = "", capabilities: Any = None, answers_once: bool = False) -> None:
        super().__init__(model="recorded")
        self.answer = answer
        self.asked: list[tuple[list[Any], dict[str, Any]]] = []
        self._capabilities = capabilities
        self._answers_once = answers_once

    def __call__(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> list[Any]:
        if self._answers_once and self.asked:
            raise AskedAgainError
        self.asked.append((messages, kwargs))
        return [self.answer]

    @property
    def supports_function_calling(self) -> bool:
        return self._capabilities is not None and self._capabilities.function_calling

    @property
    def supports_reasoning(self) -> bool:
        return self._capabilities is not None and self._capabilities.reasoning

    @property
    def supports_response_schema(self) -> bool:
        return self._capabilities is not None and self._capabilities.response_schema

    @property
    def supported_params(self) -> set[str]:
        return set(self._capabilities.params) if self._capabilities is not None else set()


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # whatever dspy prints is no answer
    sys.meta_path.insert(0, OwnPackages(sys.argv[1]))
    from sessions import store

    _say(answers, {"dspy": importlib.metadata.version("dspy")})
    session: Any = None
    for line in sys.stdin:
        question = json.loads(line)
        try:
            if "session" in question:
                session = store.loads(question["session"])
                continue
            _say(answers, {"attempts": attempts(session, question["case"], question["column"])})
        except Exception as error:  # dspy raises whatever it likes for what a session holds
            _say(answers, {"error": f"{type(error).__name__}: {error}"[:2_000]})


def _say(answers: IO[str], answer: Mapping[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def attempts(session: Any, case_name: str, column_id: str) -> list[dict[str, Any]]:
    """What this dspy makes of the recording's first call and of its fallbacks; extractions belong to their call."""
    from sessions import recording, rendering, variants

    case, column = session.case(case_name), session.column(column_id)
    recorded = case.recordings[column_id]
    session = variants.session_of(session, column)
    capabilities = recording.capabilities_in_force(recorded, session.model_of(column))
    ours = session.signature.read()
    demos = [dspys_value(dict(one)) for one in rendering.demos_of(session)]
    inputs = {name: dspys_value(value) for name, value in rendering.inputs_of(ours, case).items()}
    signature = dspys_signature(ours)
    answers: list[dict[str, Any]] = []
    for number, attempt in enumerate(recorded.attempts or ({"adapter": column.adapter},)):
        if attempt.get("role") == "extraction":
            continue
        adapter = adapter_of(column.adapter, column.options) if number == 0 else adapter_of(attempt["adapter"], {})
        asked: tuple[list[Any], dict[str, Any]] | None = None
        readings: list[dict[str, Any]] = []
        for completion in attempt.get("completions") or ({"text": ""},):
            lm = Scripted(output_of(completion), capabilities, answers_once=True)
            params = dict(rendering.params_of(session, column))
            readings.append(read(adapter, lm, params, signature, demos, inputs, completion))
            asked = asked or (lm.asked[0] if lm.asked else None)
        if asked is None:
            raise NotShownError(f"it makes no prompt: {readings[0]['error']}")
        messages, params = asked
        answers.append(
            {
                "messages": recording.as_json(messages),
                "request": recording.as_json(plain_params(params)),
                "readings": readings if attempt.get("completions") else [],
            }
        )
    return answers


def plain_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a call as data: a class given as `response_format` becomes the schema that goes out."""
    made = dict(params)
    form = made.get("response_format")
    if isinstance(form, type):
        schema = form.model_json_schema()  # type: ignore[attr-defined]
        shape = {"name": form.__name__, "strict": True, "schema": schema}
        made["response_format"] = {"type": "json_schema", "json_schema": shape}
    return made


def output_of(completion: Mapping[str, Any]) -> Any:
    """A recorded completion as dspy's LM gives it: a text, or an object with the native parts."""
    named = {"reasoning": "reasoning_content", "tool_calls": "tool_calls", "logprobs": "logprobs"}
    native = {theirs: completion[ours] for ours, theirs in named.items() if completion.get(ours)}
    text = completion.get("text") or ""
    return {"text": text, **native} if native else text


def adapter_of(name: str, options: Mapping[str, Any], extraction: str = "") -> Any:
    if name not in MODULES:
        raise NotShownError(f"dspy has no adapter {name!r}")
    module, kind = MODULES[name]
    first = (Scripted(extraction),) if name == "twostep" else ()
    others = {option: value for option, value in options.items() if option != "extraction_model"}
    return getattr(importlib.import_module(module), kind)(*first, **others)


def read(
    adapter: Any,
    lm: Scripted,
    params: dict[str, Any],
    signature: Any,
    demos: list[Any],
    inputs: Mapping[str, Any],
    completion: Mapping[str, Any],
) -> dict[str, Any]:
    """The whole call with one recorded completion as its answer, and what is read from that."""
    from sessions.typed_values import typed

    extraction = completion.get("extraction")
    if isinstance(extraction, Mapping):
        adapter.extraction_model.answer = str(extraction.get("text") or "")
    try:
        (values,) = adapter(lm, params, signature, demos, dict(inputs))
    except AskedAgainError:
        return {"ok": False, "values": {}, "error": "AdapterParseError"}
    except Exception as error:  # a reply that does not parse
        return {"ok": False, "values": {}, "error": " ".join(f"{type(error).__name__}: {error}".split())[:200]}
    outputs = {name: value for name, value in values.items() if name in signature.output_fields}
    return {"ok": True, "values": {name: typed(value) for name, value in outputs.items()}, "error": None}


def dspys_signature(ours: Any) -> Any:
    """One of our signatures as a `dspy.Signature`, with dspy's own types in the place of ours."""
    from adapters.signature import MISSING

    fields = {}
    for name, field in ours.fields.items():
        given = {"desc": field.desc, "prefix": field.prefix}
        given = {key: value for key, value in given.items() if value is not None}
        if field.default is not MISSING:
            given["default"] = field.default
        made = dspy.InputField(**given) if field.role == "input" else dspy.OutputField(**given)
        if field.constraints is not None:
            made.json_schema_extra["constraints"] = field.constraints
        if not field.type_was_given:
            made.json_schema_extra["IS_TYPE_UNDEFINED"] = True
        fields[name] = (dspys_type(field.annotation), made)
    return dspy.Signature(fields, ours.instructions)


def dspys_type(annotation: Any) -> Any:
    """An annotation with dspy's types in the place of ours, also inside of `list[…]`, `X | None` and the like."""
    from typing import Literal, Union, get_args, get_origin

    if isinstance(annotation, type) and annotation.__module__.startswith("adapters.types."):
        return _dspys_class(annotation)
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is None or origin is Literal or not arguments:
        return annotation
    inner = tuple([dspys_type(one) for one in arguments])
    if all(new is old for new, old in zip(inner, arguments, strict=True)):
        return annotation
    if origin is Union:
        return Union[inner]  # noqa: UP007  (made at run time)
    if hasattr(annotation, "copy_with"):
        return annotation.copy_with(inner)
    import functools
    import operator
    import types

    return functools.reduce(operator.or_, inner) if origin is types.UnionType else origin[inner]


def dspys_value(value: Any) -> Any:
    """A value with dspy's objects in the place of ours, built without dspy's validators, which open files."""
    if type(value).__module__.startswith("adapters.types."):
        members = {name: dspys_value(getattr(value, name)) for name in type(value).model_fields}
        url = members.get("url")
        if isinstance(url, str) and not url.startswith(MARKERS_OF_A_FETCH):
            raise NotShownError(f"dspy would open {url[:80]!r} as a file")
        return _dspys_class(type(value)).model_construct(**members)
    if isinstance(value, dict):
        return {key: dspys_value(item) for key, item in value.items()}
    return [dspys_value(item) for item in value] if isinstance(value, list) else value


def _dspys_class(ours: type) -> Any:
    name = ours.__name__
    for module in ("dspy", "dspy.adapters.types", "dspy.adapters.types." + ours.__module__.rpartition(".")[2]):
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise NotShownError(f"this dspy has no {name}")


if __name__ == "__main__":
    main()
