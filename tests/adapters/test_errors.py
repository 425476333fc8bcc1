"""The errors of this package do what those of dspy do, and reach other processes, as do results."""

from __future__ import annotations

import copy
import errno
import pickle
from typing import Any

import pytest
from dspy.utils.exceptions import AdapterParseError as Theirs

from adapters import library
from adapters.errors import AdapterParseError, RunError, SignatureError, reason_of
from adapters.lm.protocol import ProviderError
from adapters.signatures import notation
from adapters.signatures.signature import Signature

RECEIPT = """
class Receipt(BaseModel):
    total: float

class Read(dspy.Signature):
    "Read it."
    text: str = dspy.InputField()
    receipt: Receipt = dspy.OutputField(desc="all of it")
    paid: bool = dspy.OutputField()
"""


def test_the_args_of_a_parse_error_can_be_read_and_set_as_dspys() -> None:
    signature = notation.read("q -> a")
    ours = AdapterParseError("ChatAdapter", signature, "hm", "No.", {})
    theirs = Theirs("ChatAdapter", signature, "hm", "No.", {})
    assert ours.args == theirs.args == (str(theirs),)
    for args in (("other",), ("two", 2), ("[case 3]", *theirs.args), ()):
        ours.args = theirs.args = args
        assert (ours.args, str(ours), repr(ours)) == (theirs.args, str(theirs), repr(theirs))


def elsewhere(one: Any) -> Any:
    return pickle.loads(pickle.dumps(one))  # noqa: S301


def parse_error(signature: Signature, reply: str) -> AdapterParseError:
    with pytest.raises(AdapterParseError) as raised:
        library.make_adapter("chat").parse(signature, reply)
    return raised.value


@pytest.mark.parametrize("text", ["text -> receipt: float, paid: bool, at: Optional[int]", RECEIPT])
@pytest.mark.parametrize(
    "reply", ["", "[[ ## paid ## ]]\nperhaps", '[[ ## receipt ## ]]\n{"total": 3}\n', "[[ ## receipt ## ]]\nthree\n"]
)
def test_a_parse_error_reaches_another_process_whole(text: str, reply: str) -> None:
    error = parse_error(library.read_signature(text), reply)
    error.args = ("[case 3]", *error.args) if not reply else error.args
    again = elsewhere(error)
    assert (type(again), str(again), again.args) == (AdapterParseError, str(error), error.args)
    assert (again.adapter_name, again.lm_response) == (error.adapter_name, error.lm_response)
    assert (
        library.render(again.signature, {"text": "x"}).messages
        == library.render(error.signature, {"text": "x"}).messages
    )
    assert list(again.parsed_result or ()) == list(error.parsed_result or ())


@pytest.mark.parametrize(
    "error",
    [
        SignatureError("no such type", 2, 5, "use str"),
        RunError("the model did not answer", "request", 2, {"status": 500}),
        ProviderError("too many requests", "rate limit", status=429, retry_after=1.5),
    ],
)
def test_any_error_reaches_another_process_whole(error: Any) -> None:
    for again in (elsewhere(error), copy.deepcopy(error)):
        assert (type(again), str(again), again.args, vars(again)) == (type(error), str(error), error.args, vars(error))


def test_signatures_prompts_and_runs_are_copied_and_sent_whole() -> None:
    signature = library.read_signature("question, kind: Literal['a', 'b'] -> answer, count: int")
    inputs = {"question": "Why?", "kind": "a"}
    prompt, run = library.render(signature, inputs), library.run(signature, inputs)
    assert copy.deepcopy(signature) is copy.copy(signature) is signature
    assert copy.deepcopy(prompt) == prompt
    again = elsewhere((signature, prompt, run))
    assert again[0].equals(signature)
    assert again[0].fields["count"].is_required
    assert again[1].messages == prompt.messages
    assert (again[2].ok, again[2].values, len(again[2].events)) == (run.ok, run.values, len(run.events))
    assert copy.deepcopy(run).values == run.values


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "a.json"), "permission denied"),
        (OSError("No space left"), "no space left"),
        (TimeoutError(), "timeouterror"),
    ],
)
def test_the_reason_of_a_file_error_is_in_lower_case_and_never_empty(error: OSError, reason: str) -> None:
    assert reason_of(error) == reason
