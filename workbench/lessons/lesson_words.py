"""What a lesson says: each part of a prompt and each thing a parser does, for someone who never saw either."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from adapters.replies.reading import SpanKind

FIELDS = (
    "First the model is told what it will be given and what it must give back: every field of the signature by name, "
    "with its type and its description. This is the signature, written out for a reader. A field without a description "
    "is told of by its name alone, so a good description is the cheapest improvement of a prompt."
)
OBJECTIVE = (
    "Last in the system message comes the task itself: the docstring of the signature, word for word. When it has "
    "none, "
    "a default names the inputs and the outputs. Up to here nothing depends on the case: all of this is the same for "
    "every question asked with this signature."
)
DEMO = (
    "An example, shown as if it had happened before: a user message with its inputs, and the answer we would have "
    "liked. "
    "It has the very form that the reply must have, so it teaches the form as well as the task."
)
INCOMPLETE_DEMO = (
    "An example that lacks {missing}. It is still used: the first line warns the model that something is not supplied, "
    "and each missing output says so in its place. Incomplete examples are put in front of the complete ones, wherever "
    "they stood in your list."
)
HISTORY = (
    "A turn of the conversation so far. It comes after the examples and looks like the real thing: what was asked, "
    "with "
    "the reminder of the form, and what was answered. For the model it happened; an example, it cannot tell from it."
)
INPUTS = (
    "Now the real question: the values of the case on screen, under the same markers as in every example. Only this "
    "part "
    "changes from one call to the next; all that came before can be cached by the provider."
)
REMINDER = (
    "Models forget what stood far above, so the form is asked for once more, at the very end, where it counts most: "
    "which fields, in which order, and how it must end."
)
OWN_SYSTEM = "The system message, as this adapter writes it. It does not say which part of it is what."
OWN_MESSAGE = "A message of this adapter's own making."


REPLY = (
    "This is what came back: text, and nothing but text. The parser now has to find the values in it. It does not ask "
    "the model again, and it does not understand the text; it looks for the form that the prompt asked for."
)
SPAN_TITLES: Mapping[SpanKind, str] = MappingProxyType(
    {
        "marker": "Found: the structure",
        "value": "Sliced: the values",
        "repaired": "Sliced after a repair",
        "duplicate": "Said twice",
        "unknown": "No field of the signature",
        "ignored": "Ignored",
        "prose": "Prose for a second model",
        "untraced": "Not traced",
    }
)
SPAN_WORDS: Mapping[SpanKind, str] = MappingProxyType(
    {
        "marker": "The parser looks for what it asked for: markers, tags or keys that name a field. Everything else "
        "hangs on "
        "them: a marker that is misspelt is not one, however clear it is to a person.",
        "value": "What stands between two of them is cut out, as text, for the field that they name.",
        "repaired": "The text was not quite what it should be, so it was mended by rule before it was cut. Where its "
        "pieces "
        "went is therefore a good guess and no certainty.",
        "duplicate": "A field that was answered more than once. Only one of the answers is taken; these are not.",
        "unknown": "Structure that names no output of the signature. It is found, and then left alone.",
        "ignored": "The parser never looked at this. Nothing of it is in any value.",
        "untraced": "Another release of dspy read this, and it tells the values alone. Which of them came out of this "
        "text is not certain.",
        "prose": "There is nothing to parse here: a second model reads this text and takes the fields out of it.",
    }
)
FIELD_STATES: Mapping[str, str] = MappingProxyType(
    {
        "read": "The text for this field becomes a value of its type. Each line below is one step, by a fixed rule.",
        "default": "The reply has nothing for this field. Its default is filled in, so the reply still counts as read.",
        "missing": "The reply has nothing for this field, and the field has no default. That alone fails the reply.",
        "failed": "The text was found, but no rule makes a value of the field's type of it. That fails the reply.",
        "unread": "The parser had stopped before it came to this field.",
        "native": "This value comes from the response itself and not from its text: the provider returned it apart.",
    }
)
READ = "All outputs have a value of their type: the reply is read. This is what the program gets."
NOT_READ = (
    "The reply is refused as a whole: one field that cannot be had is enough. The program gets an error and no "
    "values, "
    "also none of those that were fine. The error names the place, which is where to mend the prompt or the reply."
)
