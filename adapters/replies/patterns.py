"""The table of known patterns of parse errors and surprises: causes, fixes, public threads.

Flags recognise the patterns, by name; the order is the rank, the most decisive first.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from adapters.replies.fix_makers import (
    FixMaker,
    a_list,
    a_text,
    allow_value,
    answer_directly,
    as_list,
    as_rejected,
    as_text,
    describe,
    extra_keys,
    fallback,
    for_a_bare_value,
    fractional,
    list_example,
    more_tokens,
    more_tokens_to_answer,
    native_tools,
    optional,
    penalty,
    spelled,
    stop_at_inputs,
    stop_at_token,
    target_at,
    use,
)
from adapters.replies.flag import MISSING, UNREAD, Fix

if TYPE_CHECKING:
    from adapters.replies.reading import Reading

Outcome = Literal["refused", "parsed", "any"]


class Pattern(NamedTuple):
    """A known problem: flag name, general cause, fixes, public threads, and applicable outcome."""

    name: str
    cause: str
    fixes: tuple[FixMaker, ...] = ()
    threads: str = ""
    outcome: Outcome = "refused"


FORMAT = (use("json"), use("chat"), use("twostep"), fallback)
NUMBER = (describe("Digits only, as a plain decimal number."), use("json"), as_text)
XML_TEXT = (use("chat"), use("json"))

PATTERNS: tuple[Pattern, ...] = (
    Pattern(
        "runaway-repetition",
        "The model repeats itself until its token limit",
        (penalty, use("chat")),
        "xgrammar #174, llm-command-r #8, ollama #1182",
        "any",
    ),
    Pattern("placeholder-echoed", "The model repeats a placeholder of the prompt", FORMAT, "", "any"),
    Pattern("cut-off-at-limit", "The provider reports that the token limit cut the reply off", (more_tokens,)),
    Pattern("stopped-by-filter", "The provider's content filter stopped the reply", (), "dspy #9372"),
    Pattern(
        "empty-reply", "The reply is empty: a filter, a rate limit, or no tokens left", (more_tokens,), "dspy #9372"
    ),
    Pattern("empty-object", "The JSON object is empty", FORMAT, "dify #151"),
    Pattern("error-page", "A server or proxy answered with an HTML page", (), "dspy #8276"),
    Pattern("error-body", "A server answered with an error body", (), "dspy #8276 #1661, BAML #2109, coreply #18"),
    Pattern(
        "whole-response",
        "A custom LM or proxy returned the whole response instead of its text",
        (),
        "auto-dev #299, req_llm #742, BAML #1524, litellm #25766",
    ),
    Pattern(
        "reply-too-short",
        "A character or two: often a custom LM that returns a text instead of a list of texts",
        (more_tokens, for_a_bare_value),
        "dspy #8577, knowledge-table #78",
    ),
    Pattern("think-not-closed", "The token limit ended the thoughts before an answer", (more_tokens,), "dspy #7489"),
    Pattern(
        "thoughts-not-separated",
        "Thoughts without <think>: the server did not separate them",
        (use("json"), use("twostep"), more_tokens_to_answer),
        "vllm #13125, graphify #2882, imp #509, OpenCLI #1124, sglang #6441, llama.cpp #21760",
        "any",
    ),
    Pattern("refusal", "The model declines", (), "dspy #9372"),
    Pattern(
        "harmony-channels",
        "The server leaks the channels of gpt-oss",
        (use("json"),),
        "mlx-lm #1867, macprovider #743, imp #768",
        "any",
    ),
    Pattern(
        "stop-token-in-value",
        "The server left the model's stop token in the text",
        (stop_at_token, use("json")),
        "mlx-swift-examples #89, gpt4all #2271, rknn-llm #36, omlx #1087, smg #1111",
        "any",
    ),
    Pattern(
        "tool-call-wrapper",
        "A provider's tool call leaked into the text",
        (native_tools, answer_directly, use("chat"), use("json")),
        "dspy #8264 #8539, instructor #1616, litellm #21208, hermes-agent #742 #11994, opencode #1373 #8851, "
        "lmstudio #2194, sglang #36285, oh-my-pi #8495, q27 #24, bayes-platform #731, cherry-studio #14714, "
        "claude-code #62171",
        "any",
    ),
    Pattern(
        "agent-layout",
        "The layout of ReAct agents instead of that of the prompt",
        FORMAT,
        "LlamaIndex #12455 #627, crewAI #3771, dspy #1310, langchain #3750 #9658",
    ),
    Pattern(
        "inputs-made-up",
        "The model makes up further inputs and answers them",
        (stop_at_inputs, use("json"), use("twostep")),
        "LearnDataWithMark #42",
    ),
    Pattern(
        "json-in-a-string",
        "The object is written as text: in a JSON string, or inside another object",
        (use("chat"), native_tools, describe("As JSON itself, not as a text that contains JSON.")),
        "dspy #8539, crewAI #1649, pyspur #262, langchain #26655",
        "any",
    ),
    Pattern(
        "schema-echoed",
        "The model repeats the JSON schema",
        (use("baml"), use("json"), use("chat")),
        "langchain #22189, smactorio #165, Archon #1769, spring-ai-alibaba #62",
    ),
    Pattern("prompt-echoed", "The model repeats the prompt", FORMAT, "dspy #7265", "any"),
    Pattern("filler-echoed", "The model copies the filler of an incomplete demo", (), "", "any"),
    Pattern(
        "doubled-brace",
        "The object begins with two braces, as in a template",
        (describe("JSON begins with a single brace."), use("chat")),
        "langchain #23297, ollama #10929",
        "any",
    ),
    Pattern(
        "marker-in-value",
        "A marker is inside a line or misspelt",
        (use("json"), fallback, use("twostep")),
        "dspy #8379 #8901 #1515",
        "any",
    ),
    Pattern(
        "completed-marker-in-value",
        "The end marker is inside a line or misspelt",
        (use("json"), fallback),
        "dspy #8901",
        "any",
    ),
    Pattern("marker-in-another-case", "A marker is in another case", (spelled, use("json"), fallback)),
    Pattern("cut-off-marker-in-value", "The reply ends within a marker", (more_tokens,), "dspy #1727", "any"),
    Pattern(
        "marker-inside-think", "A draft inside <think> counts as the answer", (use("json"), more_tokens), "", "any"
    ),
    Pattern(
        "indented-marker-leaks",
        "An indented marker leaks into the value (a bug of dspy)",
        (use("json"),),
        "dspy #9942",
        "any",
    ),
    Pattern("duplicate-marker-first-wins", "A field is answered more than once", (use("json"),), "", "any"),
    Pattern("tag-in-another-case", "A tag is in another case", (spelled, *XML_TEXT)),
    Pattern("tag-around-everything", "A tag wraps the fields", XML_TEXT),
    Pattern("field-inside-another", "A field is inside another field", XML_TEXT, "langchain-aws #1221"),
    Pattern("xml-attributes-ignored", "The value is an attribute of the tag", XML_TEXT),
    Pattern("xml-ampersand", "A bare & is not XML", XML_TEXT, "dspy #10402"),
    Pattern("xml-less-than", "A bare < is not XML", XML_TEXT, "dspy #10402"),
    Pattern("xml-cdata-end", "]]> is not allowed in XML text", XML_TEXT, "dspy #10269"),
    Pattern("xml-entity-unknown", "XML lacks the entities of HTML", XML_TEXT),
    Pattern("xml-tag-not-closed", "A tag is not closed", XML_TEXT, "dspy #10102, midscene #1981"),
    Pattern(
        "xml-cut-off",
        "The reply ends before every tag is closed",
        (more_tokens, *XML_TEXT),
        "semantic-kernel #4271, smolagents #1851",
    ),
    Pattern("xml-control-character", "XML does not allow control characters", XML_TEXT),
    Pattern("xml-declaration", "dspy cannot parse an XML declaration", XML_TEXT),
    Pattern("xml-namespace", "A tag has a namespace", XML_TEXT),
    Pattern(
        "object-inside-think",
        "The first {…} is inside <think>, and the parser takes it",
        (use("chat"), use("twostep")),
        "zettelrobbe #74, DeepTutor #673, Primer #109, vercel/ai #11489, spring-ai #4650",
        "any",
    ),
    Pattern("list-at-the-root", "A list instead of the object", (use("chat"),), "dspy #2022"),
    Pattern("full-width-punctuation", "Full-width punctuation in JSON", (use("chat"),)),
    Pattern(
        "other-keys",
        "Other JSON keys, such as translated ones",
        (spelled, use("json"), use("baml"), use("chat")),
        "ragas #2162, vexllm #47, KG-Pipeline #4",
    ),
    Pattern(
        "key-broken-by-quote",
        "A quote inside a JSON key, or none at its end, or no colon after it",
        (use("chat"),),
        "json_repair #56, jsonrepair #197, OrbCode #52, koharu #1020",
    ),
    Pattern(
        "key-inside-a-text",
        "A text without its closing quote takes in the JSON key after it",
        (use("json"), use("chat")),
        "BAML #844",
    ),
    Pattern("key-in-another-case", "A JSON key is in another case", (spelled, use("chat"))),
    Pattern(
        "key-nearly-right",
        "A JSON key has nearly the right name",
        (spelled, use("baml"), use("json")),
        "dspy #2202",
        "any",
    ),
    Pattern("name-nearly-right", "A marker or tag has nearly the right name", (spelled,)),
    Pattern(
        "extra-keys-refused", "JSON keys that are not outputs, which the adapter rejects", (extra_keys, use("json"))
    ),
    Pattern(
        "quote-misread",
        "A quote inside a text changed the value",
        (describe('Write every " inside a text as \\".'), use("chat")),
        "wenyi #23",
        "any",
    ),
    Pattern(
        "quote-escaped-twice",
        "A quote has two backslashes, so it ends its text",
        (describe('Write every " inside a text as \\", with one backslash.'), use("chat")),
        "outlines #759",
        "any",
    ),
    Pattern(
        "json-broken-off",
        "The model breaks off its JSON and goes on in prose",
        (use("chat"), use("twostep")),
        "letta #1450",
        "any",
    ),
    Pattern(
        "quotes-escaped",
        "The quotes around a text have backslashes",
        (describe("No backslash before the quotes around a text, only before those inside it."), use("chat")),
        "langchain-gradient #31, jaison #2",
        "any",
    ),
    Pattern(
        "text-in-pieces",
        "A text is put together with +, as in a program",
        (describe("One text, not pieces of a program joined with +."), use("chat")),
        "AutoGPT #3891",
        "any",
    ),
    Pattern(
        "text-in-backticks",
        "Backticks instead of quotes around a JSON text",
        (describe('A JSON text between quotes ", without backticks.'), use("chat")),
        "BAML #1255",
        "any",
    ),
    Pattern(
        "wrong-bracket",
        "A list ends with }, or an object with ]",
        (describe("Close every list with ] and every object with }."), use("chat")),
        "graphrag #635, json_repair #126",
    ),
    Pattern(
        "several-values-one-taken",
        "Several JSON values in a row where one is expected",
        (a_list, describe("Exactly one JSON value, with nothing after it."), use("json")),
        "dspy #957, jsonrepair #147",
    ),
    Pattern(
        "value-wrapped",
        "The value is wrapped in another object or a list",
        (describe("The value itself, not inside an object or a list."), use("baml"), use("json")),
    ),
    Pattern("alias-expected", "The type expects its aliases", (use("json"),)),
    Pattern(
        "lone-surrogate",
        "One half of a character: an unpaired surrogate",
        (describe("Write every character itself, not as \\u and digits."), use("chat"), use("json")),
        "",
        "any",
    ),
    Pattern("number-too-long", "The number has more digits than Python reads", (as_text,)),
    Pattern(
        "not-a-number",
        "The number has a currency, a unit, a fraction, a calculation or words",
        (*NUMBER, optional),
        "dspy #8220 #2202, langchain-google #852, magentic #4",
    ),
    Pattern("digits-grouped", "The digits of the number are grouped", NUMBER, "chembench #295"),
    Pattern(
        "fraction-for-a-whole-number",
        "A fraction where a whole number is expected",
        (describe("A whole number, without a fraction."), fractional, use("json")),
        "aurora #18",
    ),
    Pattern("quote-not-closed", "A quote is not closed", ()),
    Pattern("value-in-another-case", "The value is in another case", (describe("Copy a value exactly as listed."),)),
    Pattern(
        "value-not-allowed",
        "The value is not among those of the type",
        (allow_value, describe("Only the values listed, nothing else.")),
        "dspy #9867 #1870, kg-gen #24",
    ),
    Pattern(
        "several-allowed-values",
        "Several of the allowed values instead of one",
        (describe("Exactly one of the listed values."),),
    ),
    Pattern(
        "words-around-value",
        "Words surround the value",
        (describe("Only the value, without explanation or decoration."), use("json")),
        "BAML #1913",
    ),
    Pattern("enum-from-a-container", "A list or object where one value is expected", (describe("A single value."),)),
    Pattern("enum-in-quotes", "The value is in quotes", (use("json"),)),
    Pattern("enum-name-in-optional", "The name of an Enum's member, not its value", (use("json"),)),
    Pattern("enum-value-is-no-text", "The Enum's values are not texts", (use("json"),)),
    Pattern("enum-name-inside-model", "The name of an Enum's member, not its value", (use("json"),)),
    Pattern("literal-wrapper-in-optional", "The value is wrapped in Literal[…]", (use("json"),)),
    Pattern("not-true-or-false", "Words where true or false is expected", (describe("Only true or false."),)),
    Pattern(
        "date-not-read",
        "The date or time is not as in ISO 8601",
        (describe("As in ISO 8601: YYYY-MM-DD."), as_text),
        "instructor #1341",
    ),
    Pattern(
        "null-not-allowed",
        "null, or a word for no value, where the type does not allow None",
        (optional, describe("null if there is none.")),
    ),
    Pattern(
        "list-expected",
        "Text where a list is expected",
        (list_example, use("json")),
        "pydantic-ai #6739",
    ),
    Pattern("items-are-no-text", "Items that are not texts", (describe("A JSON list of texts."),)),
    Pattern("tags-read-as-object", "Tags inside the field became an object", XML_TEXT),
    Pattern("text-expected", "Another value where a text is expected", (as_list, a_text)),
    Pattern(
        "another-shape",
        "A value of another shape than the type",
        (as_list, a_list, use("json"), use("baml")),
        "langchain #22061",
    ),
    Pattern(
        "value-rejected", "The type rejects the value", (as_rejected, use("json")), "ollama #8185, browser-use #2215"
    ),
    Pattern("too-large-to-read", "The reply exceeds a limit", ()),
    Pattern("cut-off-json-completed", "JSON that was cut off was closed by a repair", (more_tokens,), "", "any"),
    Pattern(
        "key-missing",
        "A JSON key is missing",
        (use("baml"), describe("Never leave out this JSON key."), use("json")),
        "browser-use #3542 #436, ragas #1206, graphiti #912",
    ),
    Pattern(
        "marker-of-another-prompt",
        "A marker of another prompt is in the value",
        (native_tools, use("chat")),
        "dspy #10263",
        "any",
    ),
    Pattern(
        "nul-in-value", "The value contains U+0000", (describe("No control characters."),), "litellm #24314", "any"
    ),
    Pattern(
        "backslash-is-an-escape",
        "A backslash of a path or formula is a JSON escape",
        (use("chat"), use("xml"), describe("Write each backslash twice.")),
        "LightRAG #3238",
        "parsed",
    ),
    Pattern("none-stays-text", "None or null stays text", (use("json"),), "dspy #8774", "parsed"),
    Pattern("null-became-text", "null became the text None", (optional,), "", "parsed"),
    Pattern(
        "python-text-of-a-value",
        "A list or object where a text is expected became Python notation",
        (as_list, describe("A text, not a list or object.")),
        "langchain #38996",
        "parsed",
    ),
    Pattern("all-outputs-filled-in", "Nothing was found: every output is a default", FORMAT, "", "parsed"),
    Pattern(
        "text-lost-in-repair",
        "A repair lost part of the value",
        (use("chat"),),
        "json_repair #140 #100, mem0 #4540, agent-zero #298",
        "parsed",
    ),
    Pattern(
        "key-holds-text",
        "A repair left text in a JSON key",
        (use("chat"), describe('Only the straight quote " around JSON keys and texts.')),
        "graphify #2286, json_repair #133 #128",
        "parsed",
    ),
    Pattern(
        "several-objects",
        "Several answers, of which the parser takes one",
        (describe("Exactly one answer: a single JSON object."), use("chat"), use("twostep")),
        "",
        "parsed",
    ),
    Pattern(
        "list-abbreviated",
        "The model abbreviated with ...",
        (describe("All items; never abbreviate them with `...`."), more_tokens),
        "scrapegraph #324",
        "any",
    ),
    Pattern("json-in-a-text-field", "A text field contains the object", (use("json"),), "crewAI #799", "parsed"),
    Pattern(
        "value-invented",
        "A repair invented an empty value",
        (use("chat"),),
        "json_repair #128, python-genai #2266",
        "any",
    ),
    Pattern("brackets-in-prose-taken", "Brackets in prose became the value", (use("json"),), "", "parsed"),
    Pattern(
        "repeated-tag-became-list-text",
        "A tag occurs more than once, and the texts became a Python list",
        (describe("A single value, in one tag."), use("chat")),
        "langchain #18434",
        "parsed",
    ),
    Pattern(
        "value-holds-the-end",
        "A repair took the end of the JSON into a text",
        (use("chat"), describe('Only the straight quote " around JSON keys and texts.'), use("json")),
        "mem0 #1848, fix-busted-json #5, lm-format-enforcer #152, BAML #1074",
        "parsed",
    ),
    Pattern(
        "duplicate-key-last-wins",
        "A JSON key occurs more than once in an object",
        (describe("Every JSON key once in its object; a new object for each item."),),
        "json_repair #107",
        "parsed",
    ),
    Pattern("number-split-at-comma", "A comma split a number", NUMBER, "", "parsed"),
    Pattern("code-was-evaluated", "Code was evaluated as a literal", (use("json"),), "", "parsed"),
)
"""Known patterns, the most decisive first."""

LIKELY = "likely-reply"
CUT_OFF = "completed-marker-missing"
UNFORMATTED = "format-not-followed"
UNKNOWN = "unknown"
LAST: Mapping[str, tuple[str, tuple[FixMaker, ...]]] = MappingProxyType(
    {
        LIKELY: ("A corrected reply parses: another format, a wrapper, misspelt names", FORMAT),
        CUT_OFF: ("Fields and the end marker are missing: the reply may be cut off", (more_tokens, use("json"))),
        UNREAD: (
            "A JSON key is behind a mistake in the JSON (outlines #267)",
            (use("chat"), describe('Write every " inside a text as \\".'), use("twostep")),
        ),
        MISSING: (
            "Some outputs are in the reply, others are not (dspy #1876, instructor #2225, dspy #9424)",
            (describe("Never leave it out."), *FORMAT),
        ),
        UNFORMATTED: ("The reply does not follow the format at all", FORMAT),
        UNKNOWN: ("No pattern matches", (use("json"), use("chat"))),
    }
)
"""Causes for parse errors that match no pattern; `diagnosis` chooses among them."""

RANK = {one.name: number for number, one in enumerate(PATTERNS)}
"""Position of each pattern by name, the most decisive first."""
OF_ERRORS, OF_VALUES = (
    {one.name: one.fixes for one in PATTERNS if one.outcome != excluded} for excluded in ("parsed", "refused")
)
"""The fixes of each pattern that can explain a parse error, and of each that can be a surprise."""
CAUSES: Mapping[str, str] = {
    **{one.name: one.cause for one in PATTERNS},
    **{name: one[0] for name, one in LAST.items()},
}
"""General description of each cause, by name."""


def most_common(count: int) -> tuple[Pattern, ...]:
    """Return the parse-error patterns reported in the most public threads."""
    refused = [one for one in PATTERNS if one.outcome != "parsed"]
    return tuple(sorted(refused, key=lambda one: -one.threads.count("#"))[:count])


def fixes_of(makers: tuple[FixMaker, ...], reading: Reading, place: str | None) -> tuple[Fix, ...]:
    """Make the fixes of a cause; `place` is an output or a path inside it."""
    target = target_at(reading, place) if place else None
    return tuple([fix for make in makers for fix in make(reading, target)])
