"""Flags for the whole outcome: defaults instead of answers, errors that hide or leak something."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from adapters.replies.flag import Flag, line, shown

if TYPE_CHECKING:
    from adapters.replies.reading import Reading

EXPECTED_ERRORS = ("AdapterParseError", "NeedsExtraction")
MOST_NAMES = 5


def verdict(reading: Reading) -> Iterator[Flag]:
    """Yield flags that follow from the verdict and the fields' states alone."""
    if reading.error is None:
        yield from _filled_in(reading)
        return
    error = reading.error
    yield from _ended(reading)
    yield from _no_answer(reading)
    if error.type == "TooLargeError":
        yield Flag("too-large-to-read", f"The reply exceeds a limit of this project: {error.message}.", error.field)
    elif error.type not in EXPECTED_ERRORS:
        yield Flag(
            "leaked-error",
            f"dspy does not turn this {error.type} into an AdapterParseError, so there is no second call, "
            "and code that catches AdapterParseError does not catch it.",
            error.field,
        )
    kept = [name for name, one in reading.fields.items() if one.state == "read"]
    if kept:
        yield Flag(
            "fields-lost-with-the-error",
            f"{named(kept)} could be parsed, but {'is' if len(kept) == 1 else 'are'} lost: one failed field "
            "makes the whole reply a parse error.",
        )
    response = getattr(reading.exception, "lm_response", None)
    if isinstance(response, str) and reading.form != "prose" and reading.completion not in ("", response):
        yield Flag(
            "error-shows-a-part",
            f"dspy's error shows only {shown(response)} as the model's reply: the part that it searched last, "
            "not the whole reply.",
        )


REFUSAL = re.compile(
    r"(?:I['’]m|I am)(?: very| so)? sorry|(?:Sorry|Unfortunately),? (?:but )?I (?:can|am|['’]m)|"
    r"I (?:cannot|can['’]t|am unable to|am not able to|won['’]t|will not) (?:help|assist|comply|provide|do that)|"
    r"As an AI\b|I apologi[sz]e, but|I (?:don['’]t|do not) feel comfortable|Lo siento|Es tut mir leid|抱歉|对不起|"
    r"The response was filtered",
    re.IGNORECASE,
)
SHORTEST = 3
THINKS = re.compile(r"<(think|thinking|thoughts?|reasoning)>")


def _ended(reading: Reading) -> Iterator[Flag]:
    """Flag a reply that the provider reports as cut off, filtered or refused."""
    reason, refusal, limit = reading.ended
    if refusal:
        yield Flag("refusal", f"The model refused: {shown(' '.join(refusal.split()))}.")
    elif reason == "length":
        told = "its token limit" if limit is None else f"max_tokens {limit:,}"
        where = line(reading, len(reading.completion))
        yield Flag("cut-off-at-limit", f"The reply was cut off at {told} ({where}).")
    elif reason == "content_filter":
        yield Flag("stopped-by-filter", "The provider's content filter stopped the reply.")


def _no_answer(reading: Reading) -> Iterator[Flag]:
    """Flag a reply without fields by its cause: empty, too short, unfinished thoughts, a refusal."""
    text = reading.completion.strip()
    if any(one.state not in ("missing", "default") for one in reading.fields.values()):
        return
    if not text and reading.called:
        yield Flag("empty-reply", f"The reply has no text: the model only called {named(list(reading.called))}.")
    elif not text:
        yield Flag("empty-reply", "The reply is empty.")
    elif text == "{}":
        yield Flag("empty-object", "The object is empty: no output is in it.")
    elif text == "null":
        yield Flag("reply-too-short", "The whole reply is null: no output is in it.")
    elif len(text) < SHORTEST:
        why = ": often a custom LM returned a text; it must return a list of texts, [text]" if len(text) == 1 else ""
        yield Flag("reply-too-short", f"The whole reply is {shown(text)}{why}.")
    elif (match := THINKS.match(text)) and f"</{match.group(1)}>" not in text:
        tag = match.group(1)
        yield Flag("think-not-closed", f"The reply has <{tag}> without </{tag}>: the model's thoughts, and no answer.")
    elif REFUSAL.match(text) and not reading.ended.refusal:
        yield Flag("refusal", f"The reply seems to be a refusal in prose: {shown(text)}.")


def _filled_in(reading: Reading) -> Iterator[Flag]:
    states = {name: one.state for name, one in reading.fields.items()}
    filled = [name for name, state in states.items() if state == "default"]
    if filled and len(filled) == len(states):
        yield Flag(
            "all-outputs-filled-in",
            f"Nothing was found in the reply: {named(filled)} {'is' if len(filled) == 1 else 'are'} only filled in, "
            "so a refusal or an empty reply counts as success.",
        )
    for name in filled:
        value = reading.fields[name].value
        yield Flag("default-filled-in", f"The reply has no `{name}`; {shown(value)} was filled in for it.", name)
    for name, state in states.items():
        if state == "missing" and name in reading.values:
            yield Flag(
                "none-beside-a-tool-call",
                f"The reply called a tool, so `{name}` became None, even if its type does not allow None.",
                name,
            )


def named(names: list[str]) -> str:
    """Format field names for a sentence, only the first few of many."""
    first = ", ".join(f"`{name}`" for name in names[:MOST_NAMES])
    return first if len(names) <= MOST_NAMES else f"{first} and {len(names) - MOST_NAMES} more"
