"""The offline models: each spoils a good reply with habits of real models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from adapters.late_dataclasses import dataclass, replace

if TYPE_CHECKING:
    from adapters.lm.offline.task import Task


class Said(NamedTuple):
    """A reply, and its finish reason in OpenAI's words."""

    text: str
    finish_reason: str = "stop"


@dataclass(frozen=True)
class Persona:
    """A way to answer, and the failure of real models that it imitates.

    `habits` are names of mutations (`adapters.mutations`), applied in sequence. For a habit with several names, the
    messages choose an applicable mutation; with `in_order` the first applicable mutation is used.
    """

    imitates: str
    habits: tuple[tuple[str, ...], ...] = ()
    finish_reason: str = "stop"
    in_order: bool = False

    def answer(self, task: Task, variant: str) -> Said:
        """Answer `task`; `variant` is `""` for the first completion, then `"1"`, `"2"`, …."""
        from adapters.lm.offline.good_text import good_text

        text = good_text(task, variant)
        if not self.habits:
            return Said(text.rstrip("\n"), self.finish_reason)
        from adapters.lm.offline.source import choose
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
    "schema": Persona(
        "models fill in the JSON schema itself", (("the schema given back", "a tool call as text"),), in_order=True
    ),
    "stringjson": Persona(
        "gateways encode the answer once more", (("JSON in a string", "escaped as one string"),), in_order=True
    ),
    "harmony": Persona("servers leak the channels of gpt-oss", (("harmony channels",),)),
    "onechar": Persona("a custom LM returns a text in place of a list of texts", (("one character",),)),
    "innermarker": Persona(
        "models drop the line break before an inner marker",
        (("an inner line break lost", "all on one line"),),
        in_order=True,
    ),
    "wrapper": Persona(
        "a provider's tool call leaks around the answer", (("a tool wrapper", "a tool call as text"),), in_order=True
    ),
    "toolcall": Persona(
        "models tuned for agents write a tool call as text instead of the answer", (("a tool call as text",),)
    ),
}
