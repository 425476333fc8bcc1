"""The two engines side by side: dspy's adapters and ours, by the same names and options."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import dspy
from dspy import lm15
from dspy.adapters.baml_adapter import BAMLAdapter
from dspy.clients.legacy_requests import _strict_json_schema

from adapters.prompts.text import message_dicts
from oracle.outcomes import plain
from sessions.releases.dspy_worker import params_of_request

NAMES = ("chat", "json", "xml", "baml", "twostep")

THEIRS: Mapping[str, Any] = {
    "chat": dspy.ChatAdapter,
    "json": dspy.JSONAdapter,
    "xml": dspy.XMLAdapter,
    "baml": BAMLAdapter,
    "twostep": dspy.TwoStepAdapter,
}


class ScriptExhaustedError(Exception):
    """The adapter asked the scripted model once more than it has answers."""


class ScriptedLM(dspy.BaseLM):  # type: ignore[misc]
    """Answers each call with the next list of outputs, and keeps what it was sent."""

    def __init__(
        self,
        outputs: Sequence[Sequence[Any]] = (),
        *,
        model: str = "scripted/model",
        fc: bool = False,
        reasoning: bool = False,
        schema: bool = False,
        params: Sequence[str] = (),
        model_type: str = "chat",
    ) -> None:
        super().__init__(model, model_type)
        self.kwargs: dict[str, Any] = {}
        self.outputs = [list(one) for one in outputs]
        self.calls: list[dict[str, Any]] = []
        self.awaited = 0
        self._fc, self._reasoning, self._schema, self._params = fc, reasoning, schema, frozenset(params)

    @property
    def supports_function_calling(self) -> bool:
        return self._fc

    @property
    def supports_reasoning(self) -> bool:
        return self._reasoning

    @property
    def supports_response_schema(self) -> bool:
        return self._schema

    @property
    def supported_params(self) -> set[str]:
        return set(self._params)

    def __call__(self, prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> Any:
        if isinstance(prompt, lm15.Request):
            return self.complete(prompt)
        self.calls.append({"messages": plain(messages), "kwargs": comparable_params(kwargs)})
        if not self.outputs:
            raise ScriptExhaustedError
        return deepcopy(self.outputs.pop(0))

    def complete(self, request: lm15.Request) -> lm15.Response:
        """As dspy announces for 3.5: the next output as a Response; what was asked is kept as that of a list is."""
        (output,) = self(messages=message_dicts(request), **params_of_request(request))
        parts = output if isinstance(output, Mapping) else {"text": output}
        made: list[Any] = [lm15.TextPart(parts["text"])] if parts.get("text") else []
        if parts.get("reasoning_content"):
            made.insert(0, lm15.ThinkingPart(parts["reasoning_content"]))
        for call in parts.get("tool_calls") or ():
            given = json.loads(call["function"]["arguments"])
            made.append(lm15.ToolCallPart(id=call["id"], name=call["function"]["name"], input=given))
        # A message has a part at least, and a part is no empty text.
        message = lm15.Message(role="assistant", parts=tuple(made) or (lm15.RefusalPart("no output"),))
        return lm15.Response(id=None, model=self.model, message=message, finish_reason="stop", usage=lm15.Usage())

    async def acall(self, prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> Any:
        self.awaited += 1
        return self(prompt, messages=messages, **kwargs)


def theirs(name: str, options: Mapping[str, Any] | None = None, extraction: Any = None) -> Any:
    """dspy's adapter of that name."""
    if name == "twostep":
        return THEIRS[name](ScriptedLM() if extraction is None else extraction, **(options or {}))
    return THEIRS[name](**(options or {}))


def ours(name: str, options: Mapping[str, Any] | None = None, extraction: Any = None) -> Any:
    """Our adapter of that name."""
    from adapters.formats.baml import BAMLAdapter as OurBAML
    from adapters.formats.chat import ChatAdapter
    from adapters.formats.json import JSONAdapter
    from adapters.formats.two_step import TwoStepAdapter
    from adapters.formats.xml import XMLAdapter

    made: Mapping[str, Any] = {"chat": ChatAdapter, "json": JSONAdapter, "xml": XMLAdapter, "baml": OurBAML}
    if name == "twostep":
        return TwoStepAdapter(ScriptedLM() if extraction is None else extraction, **(options or {}))
    return made[name](**(options or {}))


def comparable_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Request parameters as data: a `response_format` that is a class becomes what dspy's client sends for it."""
    made = {name: plain(value) for name, value in params.items()}
    form = params.get("response_format")
    if isinstance(form, type):
        made["response_format"] = {"schema": _strict_json_schema(form.model_json_schema())}  # type: ignore[attr-defined]
    elif isinstance(form, Mapping) and form.get("type") == "json_schema":
        made["response_format"] = {"schema": form["json_schema"]["schema"]}
    return made
