"""Adapters as users write them, after the shapes that dspy documents; only the import line names this project."""

from __future__ import annotations

import re

from adapters.formats.base import Adapter
from adapters.formats.chat import ChatAdapter


class PromptAdapter(Adapter):
    """The base class with `format` and `parse` of its own: what dspy's documentation asks of a custom adapter."""

    def format(self, signature, demos, inputs):  # type: ignore[no-untyped-def]
        lines = [signature.instructions]
        for name, field in signature.output_fields.items():
            lines.append(f"Write {name} ({field.description or 'no description'}) as {name} = ...")
        messages = [{"role": "system", "content": "\n".join(lines)}]
        for demo in demos:
            messages.append(
                {"role": "user", "content": "\n".join(f"{name} = {demo.get(name)}" for name in signature.input_fields)}
            )
            messages.append(
                {
                    "role": "assistant",
                    "content": "\n".join(f"{name} = {demo.get(name)}" for name in signature.output_fields),
                }
            )
        asked = "\n".join(f"{name} = {inputs[name]}" for name in signature.input_fields if name in inputs)
        return [*messages, {"role": "user", "content": asked}]

    def parse(self, signature, completion):  # type: ignore[no-untyped-def]
        found = dict(re.findall(r"^(\w+) = (.*)$", completion, re.MULTILINE))
        return {name: found[name] for name in signature.output_fields}


class CallAdapter(Adapter):
    """The shortest of all: the whole call by hand."""

    def __call__(self, lm, lm_kwargs, signature, demos, inputs):  # type: ignore[no-untyped-def]
        messages = [
            {"role": "system", "content": signature.instructions},
            {"role": "user", "content": inputs["question"]},
        ]
        outputs = lm(messages=messages, **lm_kwargs)
        return [{"answer": output} for output in outputs]


class PoliteAdapter(ChatAdapter):
    """A built-in adapter with two of its pieces changed, by dspy's method names, in plain strings."""

    def format_task_description(self, signature):  # type: ignore[no-untyped-def]
        return "Please. " + super().format_task_description(signature)

    def user_message_output_requirements(self, signature):  # type: ignore[no-untyped-def]
        return "Kindly answer with " + ", ".join(signature.output_fields) + "."
