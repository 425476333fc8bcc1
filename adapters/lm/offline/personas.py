"""The offline models: one that does what it is asked, and those that fail as real models fail."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from adapters.lm.offline import writing
from adapters.lm.offline.answers import outputs_of
from adapters.lm.offline.source import choose
from adapters.lm.offline.task import Task
from adapters.lm.offline.writing import inside, plain, write


@dataclass(frozen=True)
class Reply:
    """What a model says; `finish_reason` is OpenAI's."""

    text: str
    finish_reason: str = "stop"


@dataclass(frozen=True)
class Persona:
    """A way to answer, and the failure of real models that it imitates.

    `answer` takes the task and which of several completions is wanted: `""` for the first, then `"1"`, `"2"`, ….
    """

    imitates: str
    answer: Callable[[Task, str], Reply]


def _pick(task: Task, variant: str, count: int) -> int:
    """A number below `count` that depends on the messages, and on which completion of several this is."""
    return choose(task.seed + variant, count)


def _exact(task: Task, variant: str) -> str:
    return task.example if task.example is not None else write(task, outputs_of(task, variant))


def exact(task: Task, variant: str) -> Reply:
    return Reply(_exact(task, variant))


def chatty(task: Task, variant: str) -> Reply:
    kind = {"json": "the JSON object", "block": "the JSON", "xml": "the XML", "chat": "the output"}.get(
        task.format, "the answer"
    )
    opening = (f"Sure! Here is {kind} you asked for:", f"Of course. Based on what you gave me, here is {kind}:")
    closing = ("I hope this helps! Let me know if you need anything else.", "Would you like me to go into more detail?")
    text = _exact(task, variant).strip()
    return Reply(f"{opening[_pick(task, variant, 2)]}\n\n{text}\n\n{closing[_pick(task, variant, 2)]}")


def sloppy(task: Task, variant: str) -> Reply:
    return Reply(writing.malformed(task, outputs_of(task, variant), task.seed + variant))


def truncated(task: Task, variant: str) -> Reply:
    text = _exact(task, variant).strip()
    # The last quarter is lost; never the whole, and never only the closing marker.
    body = text.removesuffix("[[ ## completed ## ]]").rstrip()
    return Reply(body[: max(1, len(body) * (60 + _pick(task, variant, 20)) // 100)], "length")


def fenced(task: Task, variant: str) -> Reply:
    language = {"json": "json", "xml": "xml"}.get(task.format, "")
    text = _exact(task, variant).strip()
    return Reply(text if task.format == "block" else f"```{language}\n{text}\n```")


def thinking(task: Task, variant: str) -> Reply:
    outputs = outputs_of(task, variant)
    first = next(iter(outputs.items()), None)
    draft = f"The user wants {', '.join(outputs)}. Let me look at the input first.\n"
    if first is not None and task.format in ("chat", "xml", "json"):
        draft += f"A first draft:\n{write(task, {first[0]: first[1]}).replace('[[ ## completed ## ]]', '').strip()}\n"
    return Reply(f"<think>\n{draft}Yes, that is consistent with the input.\n</think>\n\n{_exact(task, variant)}")


def wrongcase(task: Task, variant: str) -> Reply:
    outputs = {name[:1].upper() + name[1:]: value for name, value in outputs_of(task, variant).items()}
    return Reply(write(task, outputs))


def midline(task: Task, variant: str) -> Reply:
    outputs = outputs_of(task, variant)
    if task.format == "chat":
        sections = " ".join(f"[[ ## {name} ## ]] {' '.join(plain(value).split())}" for name, value in outputs.items())
        return Reply(f"Here you go: {sections} [[ ## completed ## ]]")
    if task.format in ("json", "block"):
        return Reply(f"The result is {json.dumps(inside(task, outputs), ensure_ascii=False)} as requested.")
    return Reply("Here you go: " + " ".join(write(task, outputs).split()))


def missing(task: Task, variant: str) -> Reply:
    outputs = outputs_of(task, variant)
    names = list(outputs)
    gone = names[_pick(task, variant, len(names))] if names else None
    return Reply(write(task, {name: value for name, value in outputs.items() if name != gone}))


MOST_CHUNKS = 40
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def mistyped(task: Task, variant: str) -> Reply:
    chosen = {one.name for one in task.wanted if "enum" in one.schema}
    outputs = {name: _in_words(value, name in chosen) for name, value in outputs_of(task, variant).items()}
    return Reply(write(task, outputs))


def _in_words(value: Any, chosen: bool) -> Any:
    if isinstance(value, bool):
        return "probably" if value else "probably not"
    if isinstance(value, int | float):
        whole = round(value)
        return f"about {_WORDS[whole]}" if 0 <= whole < len(_WORDS) else f"roughly {whole} or so"
    if isinstance(value, dict):
        return ", ".join(f"{key} is {plain(one)}" for key, one in value.items())
    if isinstance(value, list):
        return " and ".join(plain(one) for one in value)
    return f"I would say {value}" if chosen and isinstance(value, str) else value


def empty(task: Task, variant: str) -> Reply:
    return Reply("")


def refusal(task: Task, variant: str) -> Reply:
    return Reply("I'm sorry, but I can't help with that request.", "stop")


def toolcall(task: Task, variant: str) -> Reply:
    call = json.dumps({"name": "final_answer", "arguments": outputs_of(task, variant)}, ensure_ascii=False)
    return Reply(f"<tool_call>\n{call}\n</tool_call>")


PERSONAS: Mapping[str, Persona] = {
    "exact": Persona("answers in the format that was asked for", exact),
    "chatty": Persona("chat models put a sentence before and after the answer, whatever the prompt says", chatty),
    "sloppy": Persona(
        "small models write single quotes, trailing commas, quoted or wrongly cased choices, bare & in XML", sloppy
    ),
    "truncated": Persona("max_tokens ends the reply in the middle of a value", truncated),
    "fenced": Persona("models trained on Markdown wrap every structured answer in a ``` fence", fenced),
    "thinking": Persona(
        "reasoning models leave their <think> block, with a draft of the answer, in the text", thinking
    ),
    "wrongcase": Persona("models capitalise the fields' names as in a heading", wrongcase),
    "midline": Persona("models run markers and values together on one line, after an opening phrase", midline),
    "missing": Persona("with many outputs, models forget one", missing),
    "mistyped": Persona("models answer in words where a number, a list or one of some values was asked for", mistyped),
    "empty": Persona("providers return an empty reply after a filter or a spent reasoning budget", empty),
    "refusal": Persona("safety training refuses a harmless request", refusal),
    "toolcall": Persona("models tuned for agents write a tool call as text instead of the answer", toolcall),
}


def words_in_chunks(text: str) -> list[str]:
    """`text` in at most `MOST_CHUNKS` pieces of a few words each; joined together they are the text."""
    words = re.findall(r"\s*\S+|\s+", text)
    size = max(3, -(-len(words) // MOST_CHUNKS))
    return ["".join(words[start : start + size]) for start in range(0, len(words), size)]
