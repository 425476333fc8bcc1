"""The offline models: a good reply as the adapter writes it, and the habits of real models that spoil it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from adapters.lm.offline.samples import Sampler
from adapters.lm.offline.source import Source, choose, readable
from adapters.lm.offline.task import Task, WantedOutput, labelled
from adapters.lm.offline.wanted_types import is_vague


class Said(NamedTuple):
    """A reply, and why it ended, in OpenAI's words."""

    text: str
    finish_reason: str = "stop"


@dataclass(frozen=True)
class Persona:
    """A way to answer, and the failure of real models that it imitates.

    `habits` are names of mutations (`adapters.mutations`), applied one after the other. Of a habit with several names
    the messages choose one that applies; with `in_order` the first that applies is taken.
    """

    imitates: str
    habits: tuple[tuple[str, ...], ...] = ()
    finish_reason: str = "stop"
    in_order: bool = False

    def answer(self, task: Task, variant: str) -> Said:
        """Answer `task`; `variant` is `""` for the first completion, then `"1"`, `"2"`, …."""
        text = good_text(task, variant)
        if not self.habits:
            return Said(text.rstrip("\n"), self.finish_reason)
        from adapters.mutations import CATALOGUE

        good = task.good_reply(text)
        for habit in self.habits:
            made = [broken.text for name in habit if (broken := CATALOGUE[name](good)) is not None]
            if made:
                good = replace(good, text=made[0 if self.in_order else choose(task.seed + variant, len(made))])
        return Said(good.text.rstrip("\n"), self.finish_reason)


SLIPS = (
    *(
        "single quotes",
        "printed by Python",
        "trailing commas",
        "keys without quotes",
        "a comment in JSON",
        "the last bracket missing",
    ),
    *("the last bracket missing", "texts in quotes", "the other language's true", "choices capitalised"),
    *("a remark in place of the end marker", "an ampersand in a text", "the last tag not closed"),
)
PERSONAS: Mapping[str, Persona] = {
    "exact": Persona("answers in the format that was asked for"),
    "chatty": Persona(
        "chat models put a sentence before and after the answer, whatever the prompt says",
        (("a sentence before",), ("a sentence after",)),
    ),
    "sloppy": Persona(
        "small models write single quotes, trailing commas, quoted or wrongly cased choices, bare & in XML",
        ((*SLIPS,),),
    ),
    "truncated": Persona(
        "max_tokens ends the reply in the middle of a value",
        (("no end marker",), ("cut off after 5/8", "cut off after 6/8")),
        "length",
    ),
    "fenced": Persona("models trained on Markdown wrap every structured answer in a ``` fence", (("fenced",),)),
    "thinking": Persona(
        "reasoning models leave their <think> block, with a draft of the answer, in the text",
        (("a draft within the thought", "a thought before"),),
        in_order=True,
    ),
    "wrongcase": Persona("models capitalise the fields' names as in a heading", (("names capitalised",),)),
    "midline": Persona(
        "models run markers and values together on one line, after an opening phrase",
        (("a sentence before",), ("all on one line",)),
    ),
    "missing": Persona(
        "with many outputs, models forget one",
        (("the first field missing", "the last field missing"),),
    ),
    "mistyped": Persona(
        "models answer in words where a number, a list or one of some values was asked for",
        (("values in words",),),
    ),
    "empty": Persona("providers return an empty reply after a filter or a spent reasoning budget", (("nothing",),)),
    "refusal": Persona("safety training refuses a harmless request", (("a refusal",),)),
    "toolcall": Persona(
        "models tuned for agents write a tool call as text instead of the answer", (("a tool call as text",),)
    ),
}


def good_text(task: Task, seed: str = "") -> str:
    """Write the reply that gives the task's outputs; another `seed` gives other ones."""
    if task.example is not None:
        return task.example
    source = Source(_material(task.inputs))
    if task.format == "free":
        return source.best_sentence("answer") or "Hello."
    # Of the inputs alone, so that the same inputs get the same values under every adapter.
    seed = json.dumps([*((name, readable(text)) for name, text in task.inputs.items()), seed])
    sampler = Sampler(source, seed, task.examples)
    said = labelled(next(iter(task.inputs.values()), ""), [one.name for one in task.wanted]) if task.verbatim else {}
    return task.write({one.name: _output(one, task, sampler, said.get(one.name)) for one in task.wanted})


def _output(wanted: WantedOutput, task: Task, sampler: Sampler, said: str | None) -> Any:
    if wanted.name in task.known:
        return task.known[wanted.name]
    if said is not None:
        if task.takes(wanted.name, said):
            return said
        sampler = Sampler(Source({wanted.name: said}), wanted.name)
    if "tool_calls" in (wanted.schema.get("properties") or {}) or wanted.name == "tool_calls":
        return _calls(task, sampler)
    if task.format == "prose" and is_vague(wanted.schema) and not task.examples:
        # Of the type only its name is told: what the next model will need is laid out in words.
        return Source(task.inputs).details(f"{wanted.name} {wanted.description}")
    value = sampler.value(wanted.name, wanted.schema, wanted.description)
    if task.format in ("json", "block"):
        if wanted.schema.get("format") == "code":
            return re.sub(r"\A```\w*\n(.*)\n```\Z", r"\1", value, flags=re.DOTALL)
        return int(value) if wanted.is_numbered else value
    return value


RESULTS = "tool_call_results"

_TOOL = re.compile(
    r"([A-Za-z0-9_-]{1,64})(?:, whose description is <desc>.{0,2000}?</desc>)?\. It takes arguments (\{.{0,4000}?\})\.",
    re.DOTALL,
)


def _calls(task: Task, sampler: Sampler) -> dict[str, Any]:
    """Call the first tool that is described as dspy writes one; none once there are results."""
    for text in () if RESULTS in task.inputs else task.inputs.values():
        found = _TOOL.search(text)
        if found is None:
            continue
        try:
            schemas = ast.literal_eval(found.group(2))
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(schemas, dict):
            needed = {
                str(key): one for key, one in schemas.items() if isinstance(one, Mapping) and "default" not in one
            }
            args = {key: sampler.value(key, one, str(one.get("description", ""))) for key, one in needed.items()}
            return {"tool_calls": [{"name": found.group(1), "args": args}]}
    return {"tool_calls": []}


def _material(inputs: Mapping[str, str]) -> Mapping[str, str]:
    """The inputs that an answer is made of: no descriptions of tools, and of results only what the tools said."""
    if RESULTS in inputs:
        results = inputs[RESULTS]
        try:
            read, _ = json.JSONDecoder().raw_decode(results[results.index("{") :])
            values = [str(one["value"]) for one in (read["tool_call_results"] if isinstance(read, dict) else read)]
        except (ValueError, KeyError, TypeError, RecursionError):
            return inputs
        return {**inputs, RESULTS: "\n\n".join(values)}
    return {name: text for name, text in inputs.items() if _TOOL.search(text) is None} or inputs
