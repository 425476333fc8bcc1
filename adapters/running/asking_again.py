"""Ask again after a parse error: the next messages, with the reply and its error.

dspy 3.4.1 does not do this (its issue 7693; pull requests 7922, 8050, 9368, 9392 and 9800 propose it): the messages are
ours.
"""

from __future__ import annotations

from adapters.late_dataclasses import replace
from adapters.prompts.text import Message, Segment, Text
from adapters.replies.reading import Reading
from adapters.requests.request import Request

LONGEST_REPLY = 20_000
"""Maximum length of the reply that is sent back to the model, in characters."""
MOST_CAUSES = 3


def asked_again(request: Request, reading: Reading) -> Request:
    """Create the request that follows a reply with a parse error."""
    messages = request.prompt.messages
    last = next((one.segments for one in reversed(messages) if one.turn == "inputs"), ())
    start = next((index for index, one in enumerate(last) if one.kind == "reminder"), len(last))
    following = next_messages(reading, "".join([one.text for one in last[start:]]))
    return replace(request, prompt=replace(request.prompt, messages=(*messages, *following), reusable=None))


def next_messages(reading: Reading, reminder: str) -> tuple[Message, ...]:
    """Write the reply and its errors as messages, without a blank reply, which providers reject."""
    text = reading.completion[:LONGEST_REPLY]
    causes = [one.message for one in reading.diagnosis[:MOST_CAUSES]]
    if not causes and reading.error is not None:
        causes = [reading.error.message.strip()]
    said = "\n".join([f"- {one}" for one in causes])
    words = f"Your last reply could not be parsed:\n{said}\n\nWrite the whole reply again, corrected.\n\n{reminder}"
    replied = (_message("assistant", text),) if text.strip() else ()
    return (*replied, _message("user", words.strip()))


def _message(role: str, text: str) -> Message:
    return Message(role, "ask again", (Text((Segment(text, "boilerplate"),)),))
