"""Models without API key, network or litellm: each spoils a good reply as real models do."""

from __future__ import annotations

import copy
import re
import time
from collections.abc import Iterator, Mapping
from threading import Event
from types import MappingProxyType
from typing import TYPE_CHECKING

from adapters.late_dataclasses import dataclass, replace
from adapters.lm.protocol import Chunk, Object, ProviderError
from adapters.requests.capabilities import NONE

if TYPE_CHECKING:
    from adapters.formats.base import Adapter
    from adapters.lm.offline.task import Task
    from adapters.requests.calls import Request


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

    def answer(self, task: Task, variant: str) -> str:
        """Answer `task`; `variant` is `""` for the first completion, then `"1"`, `"2"`, …."""
        from adapters.lm.offline.good_text import good_text

        text = good_text(task, variant)
        if not self.habits:
            return text.rstrip("\n")
        from adapters.lm.offline.source import choose
        from adapters.mutations import CATALOGUE

        good = task.good_reply(text)
        for habit in self.habits:
            made = [broken.text for name in habit if (broken := CATALOGUE[name](good)) is not None]
            if made:
                good = replace(good, text=made[0 if self.in_order else choose(task.seed + variant, len(made))])
        return good.text.rstrip("\n")


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
NAMES: Mapping[str, str] = MappingProxyType({f"offline/{name}": one.imitates for name, one in PERSONAS.items()})
"""Every offline model, with the failure of real models that it imitates."""

MOST_CHUNKS = 40
"""Maximum number of chunks of a reply, of a few words each."""

CHUNK_SECONDS = 0.012
"""The pause between two chunks, in seconds; a reply has at most about 40 chunks."""


class OfflineLM:
    """`offline/NAME`, pausing `chunk_seconds` between chunks. Raises ProviderError for a name not in NAMES."""

    def __init__(self, model: str, chunk_seconds: float = CHUNK_SECONDS) -> None:
        name = model.removeprefix("offline/")
        if name not in PERSONAS:
            import difflib  # only for the hint

            near = difflib.get_close_matches(name, PERSONAS, n=1)
            hint = f" Did you mean offline/{near[0]}?" if near else f" There are: {', '.join(PERSONAS)}."
            raise ProviderError(f"There is no offline model {name!r}.{hint}", "model")
        self.model = f"offline/{name}"
        self.capabilities = NONE
        self._persona = PERSONAS[name]
        self._chunk_seconds = chunk_seconds
        self._asked_by: tuple[Adapter, Request] | None = None

    def asked_by(self, adapter: Adapter, request: Request) -> OfflineLM:
        """See `adapters.lm.protocol.WritesAsTheAdapter`; our adapter writes for one of another dspy release."""
        from adapters.formats import catalog

        release = catalog.parse_release(adapter.name)
        found = copy.copy(self)
        found._asked_by = (adapter if release is None else catalog.make(release.adapter), request)
        return found

    def stream(self, request: Object, cancel: Event | None = None) -> Iterator[Chunk]:
        """See `adapters.lm.protocol.LM`. Ignores all parameters except `n`; reports no usage and no cost."""
        from adapters.lm.offline.task import read

        task = read(request["messages"], *(self._asked_by or ()))
        count = request.get("n")
        for choice in range(count if isinstance(count, int) and count > 1 else 1):
            reply = self._persona.answer(task, str(choice or ""))
            words = re.findall(r"\s*\S+|\s+", reply)
            size = max(3, -(-len(words) // MOST_CHUNKS))
            for start in range(0, len(words), size):
                if cancel is None:
                    time.sleep(self._chunk_seconds)
                elif cancel.wait(self._chunk_seconds):
                    return
                yield Chunk(text="".join(words[start : start + size]), choice=choice)
            yield Chunk(finish_reason=self._persona.finish_reason, choice=choice)
