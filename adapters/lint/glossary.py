"""What each lint means in general; the lint itself says what is the case where."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

LINTS: Mapping[str, str] = MappingProxyType(
    {
        "demo-dropped": "A demo without any input or without any output is left out without a word.",
        "demo-moved": "Incomplete demos are shown before the complete ones.",
        "demo-filled-in": "A field that a demo lacks or has as null is shown as 'Not supplied for this …'.",
        "history-makes-demo-incomplete": "A demo has no History, so a History input makes every demo incomplete.",
        "extra-demo-key": "Keys of a demo that are no fields are left out.",
        "demo-does-not-read-back": "The adapter cannot read its own demo, so a model that copies it fails.",
        "demo-reads-back-otherwise": "The adapter reads another value from its own demo than the demo has.",
        "demo-shows-field-names": "A demo's model is printed by field names and read back by aliases.",
        "history-turn-prints-none": "A turn without an output shows the word None as the model's answer.",
        "history-described-not-sent": "A History input is described as a field and sent as turns instead.",
        "history-printed-as-text": "TwoStep knows no History: it prints the object into the message.",
        "left-out-by-the-format": "The adapter's format has no place for a part of what was given.",
        "no-user-message": "Anthropic's models and Bedrock take no prompt without a user message; Markdown sends none.",
        "missing-input": "An input without a value is left out of the prompt.",
        "default-not-applied": "Defaults of inputs are filled in by dspy.Predict, not by the adapter.",
        "no-inputs": "Without any input the user message holds only the reminder of the format.",
        "extra-input-ignored": "Values of names that are no inputs are left out.",
        "value-of-another-type": "Values in a prompt are not validated: what its type refuses is shown all the same.",
        "validated-value-differs": "Values are shown as given; validated by its type this one would print otherwise.",
        "list-in-a-text-field": "A list in a text field is shown as numbered passages in « ».",
        "list-in-a-text-field-crashes": "A list in a text field may hold only text; dspy raises TypeError.",
        "set-order": "A set has no order, so the prompt may differ from run to run.",
        "marker-in-value": "Values are not escaped: a marker inside of one looks like a field of the prompt.",
        "tag-in-value": "XML escapes outputs and not inputs: a tag inside of one looks like a field.",
        "custom-type-marker-in-value": "dspy's markers of custom types are expanded wherever they stand in a value.",
        "custom-type-stays-text": "Custom types become content parts only in user messages that are expanded.",
        "prefix-without-effect": "No adapter shows a field's prefix.",
        "constraint-not-enforced": "Constraints are told to the model and never checked.",
        "output-named-completed": "An output called `completed` has the name of Chat's end marker.",
        "decision-by-evidence": "A model gives probabilities; a threshold, cuts or weights make the value of them.",
        "decision-inside-a-type": "Only an output that is a decision itself is decided out of evidence.",
        "enum-values-do-not-parse": "The prompt lists an Enum's values; from text only names of such members are read.",
        "alias-not-shown": "BAML shows field names where the parser wants aliases.",
        "baml-asks-for-markers": "BAML's prompt shows chat markers, and its parser reads JSON.",
        "baml-model-used-twice": "BAML takes a model that occurs twice for a recursive one and raises ValueError.",
        "instructions-lines-split": "Instructions are split at every Unicode line break.",
    }
)
"""Every lint's name with its meaning."""
