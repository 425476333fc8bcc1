"""Mutations of the whole answer: text around it, in its place, or lost from it."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any

from adapters.mutations.mutation import GoodReply, Mutation, draft, grouped

LANGUAGES = {"json": "json", "fenced json": "json", "xml": "xml"}
EIGHTHS = 8
TIMES_IN_A_LOOP = 40


def _is_fenced(good: GoodReply) -> bool:
    return good.text.lstrip().startswith("```")


def fenced(good: GoodReply) -> str | None:
    language = LANGUAGES.get(good.reading.form, "text")
    return None if _is_fenced(good) else f"```{language}\n{good.text.strip()}\n```"


def fenced_without_language(good: GoodReply) -> str | None:
    return None if _is_fenced(good) else f"```\n{good.text.strip()}\n```"


def fence_left_open(good: GoodReply) -> str | None:
    text = good.text.strip()
    if _is_fenced(good):
        return text.removesuffix("```").rstrip()
    return f"```{LANGUAGES.get(good.reading.form, '')}\n{text}"


def sentence_before(good: GoodReply) -> str:
    return f"Sure! Here is the answer you asked for:\n\n{good.text}"


def sentence_after(good: GoodReply) -> str:
    return f"{good.text.rstrip()}\n\nI hope this helps! Let me know if you need anything else."


def thought_before(good: GoodReply) -> str:
    return (
        "<think>\nThe user wants the fields filled in. Let me look at the input first: {it} is 1 < 2.\n"
        f"</think>\n\n{good.text}"
    )


def draft_in_thought(good: GoodReply) -> str | None:
    written = good.write(draft(good))
    return (
        None if written is None else f"<think>\nA first draft:\n{written.strip()}\nNo, wait.\n</think>\n\n{good.text}"
    )


def thought_without_opening(good: GoodReply) -> str:
    return f"The user wants the fields filled in.\n</think>\n\n{good.text}"


def draft_first(good: GoodReply) -> str | None:
    written = good.write(draft(good))
    return None if written is None else f"{written.strip()}\n\nWait, let me correct that.\n\n{good.text}"


def template_first(good: GoodReply) -> str | None:
    """Put the format's own example, with placeholders for values, before the answer."""
    form = good.form
    if form is None or not good.fields:
        return None
    placeholders = form.whole([form.named(one.name, form.of_text(f"{{{one.name}}}")) for one in good.fields])
    return f"{placeholders.strip()}\n\n{good.text}"


def said_twice(good: GoodReply) -> str:
    return f"{good.text.rstrip()}\n\n{good.text}"


def quoted_as_mail(good: GoodReply) -> str:
    return "\n".join([f"> {line}" for line in good.text.rstrip().split("\n")])


def indented(good: GoodReply) -> str:
    return "\n".join([f"    {line}" if line else line for line in good.text.rstrip().split("\n")])


def escaped_as_string(good: GoodReply) -> str:
    return json.dumps(good.text.strip(), ensure_ascii=False)


def end_token(good: GoodReply) -> str:
    return f"{good.text.rstrip()}<|im_end|>"


def role_first(good: GoodReply) -> str:
    return f"Assistant: {good.text}"


def on_one_line(good: GoodReply) -> str:
    return " ".join(good.text.split("\n")).strip()


def byte_order_mark(good: GoodReply) -> str:
    return f"\ufeff{good.text}"


def carriage_returns(good: GoodReply) -> str:
    return good.text.replace("\r\n", "\n").replace("\n", "\r\n")


def line_separators(good: GoodReply) -> str:
    return good.text.replace("\n", "\u2028")


def spaces_at_line_ends(good: GoodReply) -> str:
    return good.text.replace("\n", "  \n")


def html_escaped(good: GoodReply) -> str:
    return html.escape(good.text)


def terminal_colours(good: GoodReply) -> str:
    return f"\x1b[32m{good.text.rstrip()}\x1b[0m"


def cut_off(eighths: int) -> Mutation:
    def made(good: GoodReply) -> str:
        text = good.text.strip()
        return text[: len(text) * eighths // EIGHTHS]

    return Mutation(f"cut off after {eighths}/{EIGHTHS}", "max_tokens ends the reply in mid-sentence", made)


def stuck_in_a_loop(good: GoodReply) -> str:
    half = good.text.strip()[: len(good.text) // 2]
    return half + half[-16:] * TIMES_IN_A_LOOP


def nothing(good: GoodReply) -> str:
    return ""


def refusal(good: GoodReply) -> str:
    return "I'm sorry, but I can't help with that request."


def tool_call(good: GoodReply) -> str:
    arguments = {one.name: one.plain for one in good.fields}
    call = json.dumps({"name": "final_answer", "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>\n{call}\n</tool_call>"


def one_character(good: GoodReply) -> str:
    return good.text.strip()[:1]


def harmony(good: GoodReply) -> str:
    return (
        "<|channel|>analysis<|message|>The user wants the fields filled in.<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{good.text.strip()}<|return|>"
    )


def _wrap_in_object(good: GoodReply, wrap: Callable[[dict[str, Any], str], object]) -> str | None:
    """Wrap the fields in another JSON object; None for forms other than JSON."""
    if not good.fields or good.reading.form not in ("json", "fenced json"):
        return None
    values = {one.name: one.plain for one in good.fields}
    return json.dumps(wrap(values, json.dumps(values, ensure_ascii=False)), ensure_ascii=False)


def schema_back(good: GoodReply) -> str | None:
    return _wrap_in_object(good, lambda values, text: {"type": "object", "properties": values})


def json_in_a_string(good: GoodReply) -> str | None:
    return _wrap_in_object(good, lambda values, text: {"json": text})


def tool_wrapper(good: GoodReply) -> str | None:
    return _wrap_in_object(
        good, lambda values, text: {"type": "function", "name": "json_tool_call", "parameters": values}
    )


def values_alone(good: GoodReply) -> str | None:
    return "\n\n".join([one.text for one in good.fields]) if good.fields else None


AROUND = grouped(
    "around the answer",
    Mutation("fenced", "models trained on Markdown wrap every structured answer in a fence", fenced),
    Mutation(
        "fenced without a language", "the same, where the model does not name the language", fenced_without_language
    ),
    Mutation("a fence left open", "the closing fence is taken for a stop sequence", fence_left_open),
    Mutation("a sentence before", "chat models open with a phrase, whatever the prompt says", sentence_before),
    Mutation("a sentence after", "chat models close with an offer of more help", sentence_after),
    Mutation("a thought before", "reasoning models leave their <think> block in the text (dspy#7489)", thought_before),
    Mutation("a draft within the thought", "the thought tries the answer's own form first", draft_in_thought),
    Mutation(
        "a thought without its opening",
        "templates put <think> into the prompt, so that only </think> arrives",
        thought_without_opening,
    ),
    Mutation("a draft, then the answer", "models correct themselves in the same breath", draft_first),
    Mutation("the template, then the answer", "small models repeat the format of the prompt first", template_first),
    Mutation("said twice", "models without an end token in their training say it again", said_twice),
    Mutation("quoted as mail", "an answer within an e-mail: > before every line", quoted_as_mail),
    Mutation("indented", "an answer as a code block or below a list item", indented),
    Mutation("escaped as one string", "a gateway encodes the reply as JSON once more", escaped_as_string),
    Mutation("an end token", "a local server does not stop at the template's end token", end_token),
    Mutation("a role before", "base models write who speaks", role_first),
    Mutation("all on one line", "models and gateways drop line breaks (dspy#8379)", on_one_line),
)

CHARACTERS = grouped(
    "characters",
    Mutation("a byte order mark", "a file or proxy puts U+FEFF in front", byte_order_mark),
    Mutation("carriage returns", "Windows line ends", carriage_returns),
    Mutation("line separators", "U+2028 in place of line breaks", line_separators),
    Mutation("spaces at the line ends", "Markdown's hard line breaks", spaces_at_line_ends),
    Mutation("escaped for HTML", "a web gateway escapes quotes and angle brackets", html_escaped),
    Mutation("terminal colours", "a command-line model server prints the reply in colour", terminal_colours),
)

NO_WHOLE_ANSWER = grouped(
    "no whole answer",
    *[cut_off(eighths) for eighths in range(1, EIGHTHS)],
    Mutation("stuck in a loop", "a small model repeats itself until max_tokens", stuck_in_a_loop),
    Mutation("nothing", "an empty reply after a filter or a spent budget of reasoning (dspy#9389)", nothing),
    Mutation("a refusal", "safety training refuses a harmless request", refusal),
    Mutation("a tool call as text", "models tuned for agents call a tool in place of an answer", tool_call),
    Mutation("one character", "a custom LM returns a text in place of a list of texts (dspy#8577)", one_character),
    Mutation("harmony channels", "a server leaks the channels of gpt-oss (mlx-lm#1867)", harmony),
    Mutation("the schema given back", "values under properties, as in the schema (langchain#22189)", schema_back),
    Mutation("JSON in a string", "the object as text under a key of its own (dspy#8539)", json_in_a_string),
    Mutation("a tool wrapper", "a provider's tool call leaks around the object (dspy#8264)", tool_wrapper),
    Mutation("the values alone", "the model answers the question and forgets the form", values_alone),
)
