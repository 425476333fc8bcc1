"""First causes of further replies that failed in public threads, and of good replies that look like them."""

from __future__ import annotations

import json
import time

import pytest

from tests.support.replies import read

WHOLE = "; the whole reply is one XML document, so all of it was refused."
OUTPUT = """
from pydantic import BaseModel
class Output(BaseModel):
    mapping: dict[str, str]
class Map(dspy.Signature):
    q: str = dspy.InputField()
    output: Output = dspy.OutputField()
"""
TWO_OBJECTS = '[[ ## output ## ]]\n{"mapping": {"a": "b"}}\n\n{"mapping": {"c": "d"}}\n\n[[ ## completed ## ]]'
STRAY = '[[ ## items ## ]]\n[{"key": "a"}]},\n{"key": "b"}]\n\n[[ ## completed ## ]]'
IN_A_ROW = "has several values in a row (the second: line {}, column 1); json_repair made one list of them."


@pytest.mark.parametrize(
    ("adapter", "signature", "completion", "causes", "said"),
    [
        (
            "xml",
            "q -> code",
            "<code>\nx = 1\n</code",
            ["xml-cut-off"],
            f"The reply ends within the tag </code (line 3, column 1){WHOLE}",
        ),
        (
            "json",
            "q -> summary",
            '{"{"summary": "A post."}\n',
            ["doubled-brace"],
            'The object begins twice, {"{" (line 1, column 1); JSON begins with one brace.',
        ),
        (
            "json",
            "q -> answer",
            '[{\n  "error": {"code": 429, "message": "Quota exceeded"}\n}\n]',
            ["error-body"],
            "The reply is a server's error, not an answer: 'Quota exceeded'.",
        ),
        (
            "chat",
            "q -> answer",
            "Thought: Do I need to use a tool? No\nAI: Hello!",
            ["agent-layout"],
            "The reply has the layout of ReAct agents (Thought, AI), not that of the prompt.",
        ),
        (
            "json",
            "q -> is_valid: bool, faults: list[str]",
            '{\n  "is_valid": false,\n  "faults":\n',
            ["cut-off-json-completed", "value-invented"],
            "The JSON ends in the middle (line 3, column 11): json_repair closed what was open.",
        ),
        (
            "json",
            "q -> answer, score: float",
            '{\n"answer": ```md\nUse {"a": 1} or {1}.\n```, "score": 0.9\n}',
            ["key-not-read"],
            "The JSON key `answer` (line 2, column 1) was not read: its text begins with ``` instead of a quote.",
        ),
        (
            "json",
            "q -> answer, score: float",
            '{"answer": ```md\nUse {"a": 1}.\n```, "score": 0.9}',
            ["text-in-backticks"],
            "A text begins with ``` instead of a quote (line 1, column 12): json_repair guessed where it ends.",
        ),
        (
            "chat",
            "q -> answer",
            "thought\n<channel|>There are 3.",
            ["thoughts-not-separated"],
            "The reply begins with thoughts in the markup of Gemma, up to <channel|> (line 2, column 1): the server "
            "did not separate the thoughts from the answer. Start it with its reasoning parser.",
        ),
        (
            "chat",
            "q -> n: int",
            "[[ ## n ## ]]\n42 [[ ## completed ## ]]",
            ["completed-marker-in-value", "words-around-value"],
            "The end marker is not at the beginning of a line (line 2, column 4). It became part of `n`.",
        ),
        (
            "chat",
            "q -> args: dict[str, str]",
            "[[ ## args ## ]]\n\n[[ ## completed ## ]]",
            ["another-shape"],
            "`args` is empty, where an object is expected.",
        ),
        (
            "chat",
            "q -> a",
            "upstream connect error or disconnect/reset before headers",
            ["error-body"],
            "The reply is a server's error, not an answer: 'upstream connect error or disconnect/res…'.",
        ),
        (
            "json",
            "q -> a",
            'Error code: 429 - {"error": {"message": "Rate limit"}}',
            ["error-body"],
            'The reply is a server\'s error, not an answer: \'Error code: 429 - {"error": {"message": …\'.',
        ),
        (
            "chat",
            "q -> next_thought, next_tool: str",
            '{"thought": "I count.", "action": "ls"}',
            ["format-not-followed"],
            "The reply is in braces, as JSON is, with the keys 'thought', 'action', instead of the [[ ## name ## ]] "
            "markers.",
        ),
        (
            "json",
            "q -> a",
            '{"candidates": [{"content": {"parts": [{"text": "x"}], "role": "model"}}]}',
            ["whole-response"],
            "The reply is the server's whole response; the model's text is at candidates[0].content inside it. A "
            "custom LM or proxy must return that text alone.",
        ),
        (
            "json",
            "q -> a, b",
            '{"$PARAMETER_NAME": {"a": "x", "b": "y"}}',
            ["tool-call-wrapper"],
            "The reply has the wrapper of a provider's tool call ($PARAMETER_NAME, line 1, column 3).",
        ),
        ("chat", OUTPUT, TWO_OBJECTS, ["several-values-one-taken", "another-shape"], f"`output` {IN_A_ROW.format(4)}"),
        (
            "chat",
            "q -> items: list[dict[str, str]]",
            STRAY,
            ["several-values-one-taken", "another-shape"],
            f"`items` {IN_A_ROW.format(3)}",
        ),
    ],
)
def test_the_first_cause_says_what_is_wrong_and_where(
    adapter: str, signature: str, completion: str, causes: list[str], said: str
) -> None:
    reading = read(adapter, signature, completion)
    assert not reading.ok
    assert [one.cause for one in reading.diagnosis] == causes
    assert reading.diagnosis[0].message == said


def test_backticks_instead_of_quotes_are_told_of_a_reply_that_parses() -> None:
    reading = read("json", "q -> answer, score: float", '{"answer": `Use it`, "score": 0.9}')
    assert reading.values == {"answer": "Use it`", "score": 0.9}
    assert [one.cause for one in reading.diagnosis] == ["text-in-backticks"]


@pytest.mark.parametrize(
    ("value", "token", "said"),
    [
        ("What's up?<end_of_turn>", "<end_of_turn>", "ends with <end_of_turn>, the model's stop token: the server did"),
        (
            "Lima.<|eot_id|></s>",
            "<|eot_id|>",
            "ends with <|eot_id|></s>, the model's stop tokens: the server did not remove them.",
        ),
        (
            "Write </s> last.<|im_end|>",
            "<|im_end|>",
            "ends with <|im_end|>, the model's stop token: the server did not remove it.",
        ),
        ("Lima.<|end|>", "<|end|>", "ends with <|end|>, the model's stop token: the server did not remove it."),
        (
            "Hello!<|end|><|assistant|> Good day!",
            "<|end|>",
            "goes on after <|end|>, the model's stop token (line 2, column 7): the server did not end the reply there.",
        ),
    ],
)
def test_a_stop_token_in_a_value_can_end_the_next_reply(value: str, token: str, said: str) -> None:
    (cause,) = read("chat", "q -> answer", f"[[ ## answer ## ]]\n{value}").diagnosis
    assert cause.message.startswith(f"`answer` {said}")
    assert cause.fixes[0].change == {"params": {"stop": [token]}}


def test_a_list_is_described_where_an_item_has_another_shape() -> None:
    reading = read("chat", "q -> triples: list[tuple[str, str, str]]", "[[ ## triples ## ]]\n['a', 'b', 'c']")
    assert reading.diagnosis[0].fixes[0].change["description"] == "A JSON list, like [[…], […]]."


def test_an_end_marker_behind_a_text_is_told_of_a_reply_that_parses() -> None:
    (cause,) = read("chat", "q -> a", "[[ ## a ## ]]\nParis [[ ## completed ## ]]").diagnosis
    assert cause.cause == "completed-marker-in-value"
    assert [one.kind for one in cause.fixes] == ["structured output"]


def test_an_empty_dict_is_described_where_the_reply_has_nothing() -> None:
    (cause,) = read("chat", "q -> args: dict[str, str]", "[[ ## args ## ]]\n\n[[ ## completed ## ]]").diagnosis
    assert cause.fixes[0].change["description"] == "A JSON object, {} if there is none."


def test_a_quote_that_split_a_text_is_told_of_a_reply_that_parses() -> None:
    reading = read("json", "q -> said: list[str]", '{"said": ["“It is."she said."]}')
    assert reading.values == {"said": ["“It is.", "she said."]}
    (cause,) = reading.diagnosis
    assert cause.cause == "quote-misread"
    assert cause.message == (
        "A quote inside a text has no backslash (line 1, column 19), so json_repair read `said` as ['“It is.', "
        "'she said.'], not as ['“It is.\"she said.']."
    )


@pytest.mark.parametrize("written", ['{"said": ["a" "b"]}', '{"said": ["a "b" c"]}'])
def test_a_quote_that_was_read_as_meant_is_no_cause(written: str) -> None:
    assert read("json", "q -> said: list[str]", written).diagnosis == ()


@pytest.mark.parametrize("other", [r'"x\/y"', r'"x\f"', r'"\ud83d\ude00"', "NaN", "-Infinity"])
def test_a_value_that_a_repair_reads_otherwise_is_not_changed_by_a_quote_elsewhere(other: str) -> None:
    reading = read("json", "q -> said, other", f'{{"said": "He said "no" twice", "other": {other}}}')
    assert reading.values["said"] == 'He said "no" twice'
    assert "quote-misread" not in [one.cause for one in reading.diagnosis]


@pytest.mark.parametrize("end", ["[1, 2,\n```", "\n```\nThat is all.", '1, "b": \n```'])
def test_the_end_of_a_fence_below_a_cut_off_object_is_no_text_in_backticks(end: str) -> None:
    reading = read("json", "q -> a", '```json\n{"a": ' + end)
    assert "text-in-backticks" not in [one.cause for one in reading.diagnosis]


@pytest.mark.parametrize(
    ("adapter", "signature", "completion"),
    [
        ("xml", "q -> code", "<code>\nx = 1\n</code>"),
        ("json", "q -> summary", '{"summary": "{\\"{\\"summary"}'),
        ("json", "q -> error", '{"error": "none"}'),
        ("json", "q -> notes", '{"notes": ""}'),
        ("json", "q -> html", '{"html": "<p>|></p>"}'),
        ("json", "q -> answer", '{"answer": "```md\\nUse {}.\\n```"}'),
        ("chat", "q -> thought, answer", "[[ ## thought ## ]]\nThought: no\nAI: hi\n\n[[ ## answer ## ]]\nHello"),
        ("chat", "q -> a", "[[ ## a ## ]]\nWrite [[ ## completed ## ]] last.\n\n[[ ## completed ## ]]"),
        ("chat", "q -> a", "[[ ## a ## ]]\nError code: 404\n\n[[ ## completed ## ]]"),
        ("chat", "q -> items: list[str]", '[[ ## items ## ]]\n["a"]\n\n[[ ## completed ## ]]'),
    ],
)
def test_a_good_reply_that_looks_alike_has_no_cause(adapter: str, signature: str, completion: str) -> None:
    reading = read(adapter, signature, completion)
    assert reading.ok
    assert reading.diagnosis == ()


@pytest.mark.parametrize("rest", [".", " **", "  ", "\nMore."])
def test_an_end_marker_before_signs_alone_is_told(rest: str) -> None:
    reading = read("chat", "q -> a", f"[[ ## a ## ]]\nParis [[ ## completed ## ]]{rest}")
    assert [one.cause for one in reading.diagnosis] == ["completed-marker-in-value"]


@pytest.mark.parametrize(
    "completion",
    [
        "450 bad reviews were found, and 500 internal documents.",
        "500 internal documents were found.",
        "Too many requests arrive on Mondays.",
        "Service unavailable errors mean that a server has too much to do.",
        "Error code: 500 means that the server failed.",
        "Error code: 404 is sent for pages that do not exist.",
        "404 Not Found is what a server answers.",
        "503 Service Unavailable means that you should wait.",
        "No healthy upstream means that Envoy has no host left.",
    ],
)
def test_prose_that_begins_like_an_error_of_a_server_is_none(completion: str) -> None:
    assert [one.cause for one in read("chat", "q -> a", completion).diagnosis] == ["format-not-followed"]


@pytest.mark.parametrize(
    "completion",
    [
        "502 Bad Gateway",
        "HTTP/1.1 503 Service Unavailable",
        "Too Many Requests: wait 3 s.",
        "internal server error\n",
        "Error code: 404",
        "Error code: 401 - Incorrect API key",
        "401 Unauthorized for url: https://host/v1",
        "no healthy upstream",
        "stream disconnected before completion: idle",
        "litellm.RateLimitError: RateLimitError: OpenAIException - Rate limit reached",
        "An error occurred (ThrottlingException) when calling the Converse operation: Too many tokens",
    ],
)
def test_an_error_of_a_server_is_told_without_json(completion: str) -> None:
    assert [one.cause for one in read("chat", "q -> a", completion).diagnosis] == ["error-body"]


@pytest.mark.parametrize(
    "completion",
    [
        '{"error": "model \'llama3\' not found, try pulling it first"}',
        '{"error": "Input is too long", "error_type": "validation"}',
        '{"error": "The app crashes", "status": 500, "path": "/v1"}',
        '{"error": {"message": "Overloaded"}}',
        '{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}',
        '{"detail": [{"loc": ["body", "model"], "msg": "field required", "type": "value_error.missing"}]}',
        '{"detail": "Not authenticated"}',
        '{"error": "llama runner process has terminated: exit status 2"}',
        '{"error": "json: cannot unmarshal string into Go struct field ChatRequest.messages"}',
        '{"error": "registry.ollama.ai/library/gemma does not support tools"}',
        '{"error": "Invalid credentials in Authorization header"}',
        '{"error": "model requires more system memory (8.0 GiB) than is available (4.0 GiB)"}',
        '{"code": "The caller does not have permission", "error": "Your team has no credits"}',
        '{"error": {"object": "error", "type": "invalid_request_error", "message": "No such key", "code": "KEY"}}',
        '{"error": {"message": "Invalid proxy token", "code": "401", "provider_specific_fields": null}}',
        '{"error": {"type": "exceed_context_size_error", "message": "Too long", "n_ctx": 4096}}',
        '{"statusCode": 401, "message": "Access denied due to invalid subscription key."}',
        '{"__type": "com.amazon.coral.service#ThrottlingException", "message": "Please wait."}',
        '{"error_code": "REQUEST_LIMIT_EXCEEDED", "message": "Exceeded the limit of the workspace."}',
        '{"code": "InvalidApiKey", "message": "Invalid API-key provided.", "request_id": "fb53"}',
    ],
)
def test_an_error_of_a_server_in_json_is_told(completion: str) -> None:
    assert [one.cause for one in read("json", "q -> a, b", completion).diagnosis] == ["error-body"]


@pytest.mark.parametrize("adapter", ["json", "chat", "xml"])
@pytest.mark.parametrize(
    "completion",
    [
        '{"error": "The app crashes at start"}',
        '{"detail": "A house with a garden"}',
        '{"error": {"line": 3, "type": "NameError", "message": "A name is not defined"}}',
        '{"detail": [{"part": "roof"}]}',
        '{"error": "A billing question"}',
        '{"detail": "This model of a house has a garden"}',
        '{"error": "The endpoint is slow"}',
        '{"error": "bad name", "code": 3}',
        '{"error": "bad name", "status": false}',
        '{"code": 500, "message": "The disk is full"}',
        '{"message": "The disk is full"}',
        "litellm.RateLimitError is raised when the limit is reached.",
    ],
)
def test_an_error_that_a_model_wrote_is_no_answer_of_a_server(adapter: str, completion: str) -> None:
    assert "error-body" not in [one.cause for one in read(adapter, "ticket -> summary", completion).diagnosis]


def test_the_key_error_in_the_place_of_an_output_is_told_as_another_key() -> None:
    (cause,) = read("json", "ticket -> summary", '{"error": "The app crashes at start"}').diagnosis
    assert (cause.cause, cause.message) == ("other-keys", "The JSON key 'error' replaces `summary`.")


@pytest.mark.parametrize(
    "completion",
    [
        '[{"error": "timeout", "line": 3}, {"error": "disk", "line": 4}]',
        '[{"error": {"message": "timeout"}, "line": 3}]',
        '```json\n[{"error": "timeout"}]\n```',
        '```json\n[{"title": "a"}]\n```',
    ],
)
def test_objects_of_an_answer_in_a_list_are_no_error_and_no_other_keys(completion: str) -> None:
    reading = read("json", "log -> rows: list[dict]", completion)
    assert [one.cause for one in reading.diagnosis] == ["list-at-the-root"]


def test_an_end_marker_in_a_text_does_not_hide_that_another_output_is_missing() -> None:
    (cause,) = read("chat", "q -> items: list[str], n: int", "[[ ## items ## ]]\na\n\n[## completed ## ]]").diagnosis
    assert (cause.cause, cause.field) == ("output-missing", "n")


def test_a_text_in_backticks_does_not_hide_that_another_output_is_missing() -> None:
    (cause,) = read("json", "q -> why, answer", '{"answer": ```json\n"Paris"\n}').diagnosis
    assert (cause.cause, cause.field) == ("output-missing", "why")


@pytest.mark.parametrize(
    ("adapter", "signature", "completion"),
    [
        ("json", "q -> a", '{"a": "x \\ud800 y"}'),
        ("json", "q -> a: dict[str, list[str]]", '{"a": {"b": ["\\uDC00"]}}'),
        ("chat", "q -> a: list[str]", '[[ ## a ## ]]\n["\\ud83d"]\n\n[[ ## completed ## ]]'),
        ("chat", "q -> a", "[[ ## a ## ]]\nx \ud800\n\n[[ ## completed ## ]]"),
        ("json", "q -> a: Literal['x', 'y']", '{"a": "\\ud800"}'),
        ("json", "q -> a: list[int]", '{"a": ["\\ud800"]}'),
        ("xml", "q -> a", "<a>x\ud800</a>"),
    ],
)
def test_half_a_character_is_told(adapter: str, signature: str, completion: str) -> None:
    assert [one.cause for one in read(adapter, signature, completion).diagnosis] == ["lone-surrogate"]


@pytest.mark.parametrize("value", ["\\ud83d\\ude00", "\\\\ud800", "\U0001f600"])
def test_whole_characters_and_words_about_halves_are_not_told(value: str) -> None:
    assert read("json", "q -> a", f'{{"a": "{value}"}}').diagnosis == ()


@pytest.mark.parametrize(
    ("adapter", "completion", "ending"),
    [
        ("json", '{"a": "x</s>"}', "</s>, the model's stop token"),
        ("json", '{"a": "x</s></s>"}', "</s></s>, the model's stop tokens"),
        ("json", '{"a": "x</s>\\n</s>"}', "</s> </s>, the model's stop tokens"),
        ("chat", "[[ ## a ## ]]\nx</s>\n<|im_end|>", "</s> <|im_end|>, the model's stop tokens"),
    ],
)
def test_all_stop_tokens_at_an_end_are_told(adapter: str, completion: str, ending: str) -> None:
    (cause,) = read(adapter, "q -> a", completion).diagnosis
    assert cause.cause == "stop-token-in-value"
    assert cause.message.startswith(f"`a` ends with {ending}: the server did not remove")


def test_many_stop_tokens_inside_a_value_are_not_searched_again_and_again() -> None:
    reading = read("chat", "q -> a", f"[[ ## a ## ]]\n{'</s>' * 50_000}x</s>\n\n[[ ## completed ## ]]")
    assert [one.cause for one in reading.diagnosis] == ["stop-token-in-value"]


WORDS = (
    "Error code: 500 means that the server failed.",
    "502 Bad Gateway",
    "Internal Server Error",
    "Rate limit reached",
    '{"detail": "Not Found"}',
    '{"error": {"message": "Not found", "code": 404}}',
    "The stop token is &lt;|im_end|&gt; in ChatML.",
    "Emoji \U0001f600 and \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "The escape \\ud83d is one half of an emoji.",
    "litellm.RateLimitError: raise it again.",
    "\u4e2d\u6587\uff0c\u9519\u8bef\u4ee3\u7801 500\u3002",
    "We need to restart the server.",
)


@pytest.mark.parametrize("adapter", ["chat", "json", "xml"])
@pytest.mark.parametrize("words", WORDS)
def test_words_about_errors_in_a_good_reply_are_no_cause(adapter: str, words: str) -> None:
    replies = {
        "chat": f"[[ ## a ## ]]\n{words}\n\n[[ ## b ## ]]\n0.5\n\n[[ ## completed ## ]]",
        "json": json.dumps({"a": words, "b": 0.5}),
        "xml": f"<a>\n{words}\n</a>\n<b>0.5</b>",
    }
    reading = read(adapter, "q -> a, b: float", replies[adapter])
    assert (reading.ok, reading.diagnosis) == (True, ())


def test_other_json_keys_are_not_taken_for_translations() -> None:
    (cause,) = read("json", "q -> mood: Literal['good', 'bad'], why", '{"status": "done", "message": "ok"}').diagnosis
    assert cause.message == "The reply has the JSON keys 'status', 'message' instead of `mood`, `why`."


RELATIONS = """
from pydantic import BaseModel, ConfigDict
class Node(BaseModel):
    model_config = ConfigDict(extra="forbid")
    source_id: str
    source_kind: str
class Graph(dspy.Signature):
    q: str = dspy.InputField()
    nodes: list[Node] = dspy.OutputField()
"""


@pytest.mark.parametrize(
    ("signature", "completion", "said"),
    [
        (
            "q -> info: dict[str, str]",
            "The appropriate output will be as follows:\n-",
            "The reply ends where it announces the answer, without any JSON keys.",
        ),
        (
            "q -> a, b",
            "Here is the answer:\n",
            "The reply ends where it announces the answer, without any JSON keys.",
        ),
        (
            "q -> a, b",
            "Here is the JSON you asked for:\n\n```json\n{",
            "The reply ends where it announces the answer, without any JSON keys.",
        ),
        (
            "q -> grid: list[list[int]]",
            "Each row is doubled.\n\n\\boxed{[[1, 2], [3, 4]]}",
            "The reply has its answer in \\boxed{…}, as mathematics is written, instead of the JSON keys.",
        ),
        (
            "q -> a: dict[str, Any], s: dict[str, Any]",
            "{'args': {'a': {'go': {'to': 'x'}}, 's': {}}, 'type': 'Output'}",
            "The object with the fields is one level down, in 'args'.",
        ),
        (
            RELATIONS,
            '{"nodes": [[{"source_id": "a", "source_kind": "b"}, {"source_id": "c", "source_kind": "d"}]]}',
            "`nodes[0]` is a list of its own, where an object is expected.",
        ),
        (
            RELATIONS,
            '{"nodes": [{"source_id": "a", "source_kind": "b", "url": "c"}]}',
            "`nodes[0].url` is 'c': no JSON key 'url' is allowed.",
        ),
        (
            "q -> score: int",
            '{"output": "Sure, here is the output for the review:\\n\\n{\\"score\\": 0}"}',
            "The object is written as text inside the JSON key 'output'.",
        ),
        (
            "q -> action: Literal['MUTE', 'NONE']",
            '{"action": NONE}',
            "NONE without quotes is read as null; `action` takes the text 'NONE'.",
        ),
        ("q -> facts: list[str]", "```json\n```", "The reply is an empty code fence."),
    ],
    ids=[
        "announced",
        "only announced",
        "announced and begun",
        "in a box",
        "a dict of Python's",
        "a list in a list",
        "a key too many",
        "a text below a sentence",
        "a word without quotes",
        "an empty fence",
    ],
)
def test_a_reply_of_another_shape_is_described_as_it_is(signature: str, completion: str, said: str) -> None:
    assert read("json", signature, completion).diagnosis[0].message == said


def test_a_key_of_the_reply_is_meant_for_one_key_of_the_type() -> None:
    found = read("json", RELATIONS, '{"nodes": [{"source": "a"}]}').diagnosis
    causes = {one.path: one.cause for one in found}
    assert causes["nodes[0].source_id"] == "key-nearly-right"
    assert causes["nodes[0].source_kind"] == "key-missing"


def test_a_list_inside_a_list_is_taken_out_of_it() -> None:
    given = '[{"source_id": "a", "source_kind": "b"}]'
    (meant, *_) = read("json", RELATIONS, f'{{"nodes": [{given}]}}').near_misses
    assert meant.reading.ok and meant.message.startswith("`nodes` is inside a list of its own")


def test_quotes_beside_line_breaks_in_a_text_are_both_named() -> None:
    reading = read("json", "q -> n: int, why", '{"n": 9, "why": "Between "one" and "two." \n"}')
    (flag,) = [one for one in reading.flags if one.name == "json-repaired"]
    assert "it has quotes inside strings without backslashes, line breaks inside of strings;" in flag.message


@pytest.mark.parametrize("escape", [r"\u5", r"\uu00e9", r"\u{1F600}", r"\ud8"])
def test_a_broken_escape_of_a_character_is_named(escape: str) -> None:
    (cause,) = read("json", "q -> facts: list[str], n: int", f'{{"facts": ["caf{escape} au lait"], "n": 1}}').diagnosis
    said = f"json_repair left {escape} in `facts`: it is not a whole escape, so its character is lost."
    assert (cause.cause, cause.field, cause.message) == ("text-lost-in-repair", "facts", said)


@pytest.mark.parametrize(
    "text",
    [
        r"\underline{x}", r"\upsilon_2", r"C:\u2\a", r"\u{a}", r"\u00e9 and \$", r"\\u5", r"\ubuntu", r"\users\1",
        r"\unit{5}", r"\U0001F600",
    ],
)  # fmt: skip
def test_a_backslash_before_a_word_is_no_broken_escape(text: str) -> None:
    reading = read("json", "q -> a, n: int", f'{{"a": "It is {text} here", "n": 1,}}')
    assert reading.ok and "text-lost-in-repair" not in [one.name for one in reading.flags]


def test_a_closed_object_in_quotes_with_backslashes_is_not_called_cut_off() -> None:
    closed = '{ \\"score\\": 0, \\"why\\": \\"x\\"}\\n'
    for text, causes in (
        (closed, []),
        (closed.partition("}")[0], ["cut-off-json-completed"]),
        ('{"score": 0, "why": "x = {\\"k\\": 1}, b', ["cut-off-json-completed"]),
    ):
        assert [one.cause for one in read("json", "q -> score: int, why", text).diagnosis] == causes


REFUSED_AGAIN = [
    (
        "chat",
        "q -> answer",
        "<｜DSML｜aio-webcontent>\n<url>https://a.b</url>\n</｜DSML｜aio-webcontent>",
        "tool-call-wrapper",
        "The reply has the wrapper of a provider's tool call (<｜DSML｜aio-webcontent, line 1, column 1).",
    ),
    (
        "chat",
        "q -> answer",
        "thought\nI write it.\ncall:write_file{content:hello,path:a.txt}",
        "tool-call-wrapper",
        "The reply has the wrapper of a provider's tool call (call:write_file{, line 3, column 1).",
    ),
    (
        "xml",
        "q -> next_step, command",
        "<execute_command>\n<command>npm ls 2>&1</command>\n</execute_command>",
        "tool-call-wrapper",
        "The reply has the wrapper of a provider's tool call (<execute_command>, line 1, column 1).",
    ),
    (
        "json",
        "q -> expert_name, skills: list[str]",
        '{"expert\\_name": "Ana", "skills": ["data\\_analysis"]}',
        "likely-reply",
        "JSON has no \\_ (line 1, column 9): the backslash stays in JSON keys and texts.",
    ),
    (
        "json",
        "q -> function, params: dict[str, str]",
        '{\n  "function":I apologize, it seems to have ended. I can only talk!\n',
        "json-broken-off",
        "The model breaks off its JSON and goes on in prose (line 2, column 14): 'I apologize, it seems to have "
        "ended. I c…'.",
    ),
    (
        "chat",
        "q -> answer",
        "Thinking...\nThe user says hi.\n\n...done thinking.\n\nHello to you, and welcome back.",
        "format-not-followed",
        "After its thoughts, the reply is prose, without any [[ ## name ## ]] markers.",
    ),
    (
        "chat",
        "q -> a, b: list[str]",
        '[CONTENT]\n{"a": "x", # it\'s\n "b": ["y"]}\n[/CONTENT]',
        "format-not-followed",
        "The reply has JSON, with the keys 'a', 'b', instead of the [[ ## name ## ]] markers.",
    ),
    (
        "json",
        "q -> name, indices: list[int]",
        "```yaml\nname: Waiter: a request\nindices:\n  - 0\n  - 3\n```",
        "likely-reply",
        "The reply is in YAML.",
    ),
    (
        "json",
        "q -> status, score: int",
        '**status**: "scored",\n**score**: 1,\n',
        "likely-reply",
        "The reply has the fields under headings or labels.",
    ),
]
"""Replies of pi-free #376, openclaude #380, cline #10413, AutoGroq #38, letta #1450, ollama #11545, MetaGPT #733,
PocketFlow-Tutorial #87 and findajob #638, some shortened."""


@pytest.mark.parametrize(("adapter", "signature", "completion", "cause", "said"), REFUSED_AGAIN)
def test_the_first_cause_of_further_refused_replies_is_true(
    adapter: str, signature: str, completion: str, cause: str, said: str
) -> None:
    reading = read(adapter, signature, completion)
    assert not reading.ok
    assert (reading.diagnosis[0].cause, reading.diagnosis[0].message) == (cause, said)


CHANGED = [
    (
        "q -> query, n: int",
        '{"query": \\\\"foo\\\\", "n": 2}',
        "quotes-escaped",
        'The quotes around a text have backslashes, \\\\" (line 1, column 11), as only quotes inside it have: '
        "json_repair guessed where it ends.",
    ),
    (
        "q -> note, text",
        '{"note": "a", "text": "Report of " + date + "\\nTotal: " + str(total)}',
        "text-in-pieces",
        "A text is put together with + (line 1, column 35), as in a program; JSON has no +, so signs of the program "
        "are in the value, or parts are lost.",
    ),
    (
        "q -> thought, action",
        "{\"thought\": \"Guess names if it fails.', 'action': 'smbmap -H 10.0.0.1'}",
        "value-holds-the-end",
        '`thought` ends with the single quote that was meant to close it ("Guess names if it fails.\'"): JSON has only '
        'the quote ".',
    ),
    (
        "q -> name, item: dict[str, str]",
        '{"name": "example", "item": {"name": "value2”, "other": "x",}}',
        "value-holds-the-end",
        "`item` ends with the curly quote that was meant to close it ('value2”'): JSON has only straight quotes.",
    ),
]
"""Replies of langchain-gradient #31, AutoGPT #3891, lm-format-enforcer #152 and BAML #1074, some shortened."""


@pytest.mark.parametrize(("signature", "completion", "cause", "said"), CHANGED)
def test_a_value_that_a_wrong_quote_changed_is_told_of_a_reply_that_parses(
    signature: str, completion: str, cause: str, said: str
) -> None:
    reading = read("json", signature, completion)
    assert reading.ok
    assert [(one.cause, one.message) for one in reading.diagnosis] == [(cause, said)]


def test_items_in_two_pairs_of_quotes_are_read_as_meant() -> None:
    """The reply of gpt-researcher #579, shortened."""
    reading = read("json", "q -> queries: list[str]", '{"queries": [""Are dogs popular?"", ""What are cats?""]}')
    assert reading.values == {"queries": ["Are dogs popular?", "What are cats?"]}
    assert reading.diagnosis == ()


@pytest.mark.parametrize("adapter", ["json", "chat"])
def test_a_missing_output_is_described_as_never_left_out(adapter: str) -> None:
    completion = {"json": '{"b": "x", "c": "y"}', "chat": "[[ ## b ## ]]\nx\n\n[[ ## c ## ]]\ny"}[adapter]
    (cause,) = read(adapter, "q -> a, b, c", completion).diagnosis
    assert cause.cause == "output-missing"
    assert cause.fixes[0].change == {"field": "a", "description": "Never leave it out."}


@pytest.mark.parametrize(
    "text",
    [
        'x = "a" + b',
        'print("a" + str(b))',
        "the dogs'",
        "rock 'n' roll, 'twas",
        "“Tere”, ütles ta",
        "„Tak”, powiedziała.",
        '”Ja”, sade hon: "nej"',
        "„Guten Tag“, sagte er.",
        "« Oui », dit-il.",
        "Say \"a\", 'b', and “c”.",
        "C:\\temp\\new \\_ \\frac",
        "5' 10\", 12” vinyl",
        "call: me, or function call:run{x}",
        "Use <execute_command> or <tool_code> here",
        "I apologize, it seems so. Sorry!",
        "Thinking... about it ...done thinking.",
        "| a | b |\n|---|---|\n| 10:30 | 1 + 2 |",
    ],
)
@pytest.mark.parametrize("damage", ["trailing comma", "comment", "one brace more"])
def test_texts_of_all_kinds_in_harmlessly_broken_json_have_no_cause(text: str, damage: str) -> None:
    written = json.dumps({"b": text, "a": text}, ensure_ascii=False, indent=1)
    broken = {
        "trailing comma": written.removesuffix("\n}") + ",\n}",
        "comment": written.replace(' "a"', ' // the next\n "a"'),
        "one brace more": written + "}",
    }[damage]
    reading = read("json", "q -> a, b", broken)
    assert reading.values == {"a": text, "b": text}
    assert reading.diagnosis == ()


CALLS_AND_TOKENS = [
    (
        "chat",
        "q -> answer",
        'data: {"choices": [{"delta": {"content": "[[ ## answer"}}]}\n\ndata: [DONE]\n',
        "whole-response",
        "The reply is the server's stream of events (data: …), which hold the model's text in pieces. A custom LM or "
        "proxy must return that text alone.",
    ),
    (
        "chat",
        "q -> fruit: Literal['apple', 'cherry']",
        "[[ ## fruit ## ]]\napple<eos>",
        "stop-token-in-value",
        "`fruit` ends with <eos>, the model's stop token: the server did not remove it.",
    ),
    (
        "json",
        "q -> n: int",
        '{"n": "4<|im_end|>"}',
        "stop-token-in-value",
        "`n` ends with <|im_end|>, the model's stop token: the server did not remove it.",
    ),
    (
        "chat",
        "q -> answer",
        "[[ ## answer ## ]]\nIt is sunny.<|im_end|><|im_assistant|>assistant<|im_middle|>",
        "stop-token-in-value",
        "`answer` goes on after <|im_end|>, the model's stop token (line 2, column 13): the server did not end the "
        "reply there.",
    ),
    (
        "json",
        "q -> reply",
        '{\n"Hello, it\'s great to meet you."}',
        "format-not-followed",
        "The reply has a text in braces, '\"Hello, it\\'s great to meet you.\"', without a JSON key before it.",
    ),
    (
        "json",
        "q -> content: list[str], done: bool",
        '{\n"content": [\n"# One\\",\n"# Two"\n],\n"done": false\n}',
        "quotes-escaped",
        'The closing quote of a text has a backslash, \\" (line 3, column 7): json_repair guessed where it ends.',
    ),
    (
        "json",
        "q -> feedback",
        '{"feedback": "uses \\$ sign and misses \\the_point"}',
        "backslash-is-an-escape",
        "'\\the' in `feedback` contains a JSON escape: \\n is a line break, \\t a tab, …; a backslash itself must be "
        "written \\\\.",
    ),
    (
        "chat",
        "q -> reply",
        '[[ ## reply ## ]]\nGood for her.", "ts": "2026-09-08"}\n\n[[ ## completed ## ]]',
        "value-holds-the-end",
        '`reply` ends with the end of a JSON object without its beginning: \'", "ts": "2026-09-08"}\'.',
    ),
    (
        "json",
        "q -> number: int, translation",
        '{"number" 3, "translation" "Good morning"}',
        "key-broken-by-quote",
        "The JSON key `number` has no colon after it (line 1, column 2).",
    ),
    (
        "json",
        "q -> feedback",
        "{ properties: { feedback: 'Add a reason.' } }",
        "likely-reply",
        "The object with the fields is one level down, in 'properties'.",
    ),
    (
        "json",
        "q -> triples: list[dict[str, str]]",
        '{"subject": "marie curie", "predicate": "born in", "object": "warsaw"}',
        "other-keys",
        "The reply is one object with the JSON keys 'subject', 'predicate', 'object', probably an item of the list "
        "`triples`, instead of the list.",
    ),
    (
        "json",
        "q -> message, chart: bool",
        '{"tool":"forecast_cash_flow","args":{},}',
        "tool-call-wrapper",
        "The reply calls the tool 'forecast_cash_flow' as text (line 1, column 1) instead of answering.",
    ),
    (
        "chat",
        "q -> answer",
        "Action: json_spec_list_keys(data)",
        "agent-layout",
        "The reply has the layout of ReAct agents (Action), not that of the prompt.",
    ),
    (
        "chat",
        "q -> answer",
        'Error: CODE 404 - {"error": "model not found"}',
        "error-body",
        "The reply is a server's error, not an answer: 'Error: CODE 404 - {\"error\": \"model not f…'.",
    ),
]
"""Replies of litellm #25766, omlx #1087, smg #1111, letta #288, jaison #2, luminary #34, companion-emergence #227,
koharu #1020, Empirical-Core #11842, KG-Pipeline #4, FinSight-AI #1370, langchain #9658 and dspy #1661, shortened."""


@pytest.mark.parametrize(("adapter", "signature", "completion", "cause", "said"), CALLS_AND_TOKENS)
def test_signs_of_a_server_and_misplaced_backslashes_are_the_first_cause(
    adapter: str, signature: str, completion: str, cause: str, said: str
) -> None:
    first = read(adapter, signature, completion).diagnosis[0]
    assert (first.cause, first.message) == (cause, said)


@pytest.mark.parametrize(
    ("adapter", "text"),
    [
        ("chat", '{"x": "b", "ts": "c"}'),
        ("chat", 'He wrote "x", "y" and "z"}'),
        ("chat", "<|im_end|> ends a turn, <|eot_id|> too"),
        ("chat", "data: {x} is an event"),
        ("json", 'It said \\"a\\",\\n    \\"b\\": done'),
        ("json", "it\\'s a\\ttab"),
        ("json", "costs \\$5\\nand more"),
    ],
)
def test_good_texts_with_such_signs_have_no_cause(adapter: str, text: str) -> None:
    written = f"[[ ## a ## ]]\n{text}\n\n[[ ## completed ## ]]" if adapter == "chat" else f'{{"a": "{text}"}}'
    assert read(adapter, "q -> a, b: str | None", written).diagnosis[1:] == ()
    assert read(adapter, "q -> a", written).diagnosis == ()


@pytest.mark.parametrize(
    ("signature", "completion"),
    [
        ("q -> tool, args: dict[str, str], why", '{"tool": "search", "args": {"q": "x"}}'),
        ("q -> action, score: int", '{"action": "stop", "action_input": "now"}'),
        ("q -> rows: list[str]", '{"subject": "a", "object": "b"}'),
        ("q -> rows: list[dict[str, str]], n: int", '{"subject": "a", "object": "b"}'),
        ("q -> answer", "404 Error: status pages say what failed."),
        ("q -> action", "Action: stop"),
    ],
)
def test_what_looks_like_a_call_an_item_or_an_error_is_none(signature: str, completion: str) -> None:
    causes = [one.cause for one in read("json", signature, completion).diagnosis]
    assert {"tool-call-wrapper", "agent-layout", "error-body"}.isdisjoint(causes)
    assert not any("an item of the list" in one.message for one in read("json", signature, completion).diagnosis)


@pytest.mark.parametrize(
    ("adapter", "signature", "completion", "wrong"),
    [
        ("chat", "q -> a", "As you asked, here is the plan.\n\nAction: call the customer today.", "agent-layout"),
        ("xml", "q -> tool_use, n: int", "  <tool_use>x</tool_use>\n<n>x</n>", "tool-call-wrapper"),
        ("json", "q -> a", '{"a": The capital of France is Paris. It is large.', "json-broken-off"),
        ("json", "q -> a", '{"a": "{\\"k\\": \'b\' + c}",}', "text-in-pieces"),
        ("json", "q -> a, b", '{"a": "two lines:\n\\"yes\\",\n", "b": "x",}', "quotes-escaped"),
    ],
)
def test_what_looks_like_a_known_cause_is_none(adapter: str, signature: str, completion: str, wrong: str) -> None:
    assert wrong not in [one.cause for one in read(adapter, signature, completion).diagnosis]


@pytest.mark.parametrize(
    "completion",
    [": x\n" * 2_000 + "data: x", "id: 1\n" * 2_000 + "data: x", '{"answer": "b\\",' + "\n" * 50_000 + "x"],
    ids=["comments", "ids", "line-breaks"],
)
def test_long_replies_of_an_unfinished_sign_are_diagnosed_at_once(completion: str) -> None:
    before = time.process_time()
    assert read("json", "q -> answer, n: int", completion).diagnosis
    assert time.process_time() - before < 2
