"""Inputs that `dspy.Predict` consumes itself, so that they never reach the prompt.

Rule: `dspy.Predict._forward_preprocess` pops `signature`, `demos`, `config` and `lm` from its keyword arguments,
rejects `new_signature`, and takes a `prediction` in OpenAI's form; `self` and `instance` are parameters of
`dspy.Predict.__call__` and of the callback wrapper around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.late_dataclasses import dataclass, field
from adapters.signatures.signature import Signature
from adapters.values.custom_types import BuildError

TAKEN: Mapping[str, str] = {
    "demos": "as its demos, in place of its own",
    "config": "as parameters of the call",
    "lm": "as its model",
    "prediction": "as a parameter of the call when it is {'type': 'content', 'content': …}",
    "signature": "as its signature",
    "new_signature": "as a mistake and raises AssertionError",
    "self": "as itself and raises TypeError",
    "instance": "as itself and raises TypeError",
}
"""dspy's use of a value of each name."""
RENAME = "rename the field"


@dataclass(frozen=True)
class PredictCall:
    """The arguments of a `dspy.Predict` call; `demos` None keeps its own."""

    inputs: dict[str, Any]
    demos: Sequence[Mapping[str, Any]] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


def predict_call(signature: Signature, inputs: Mapping[str, Any]) -> PredictCall:
    """Split `inputs` as dspy.Predict does, looking only at the signature's fields.

    Raises `BuildError` where dspy.Predict raises before sending anything.
    """
    left = dict(inputs)
    demos: Sequence[Mapping[str, Any]] | None = None
    params: dict[str, Any] = {}
    taken = TAKEN.keys() & inputs.keys()
    for name in taken & signature.input_fields.keys() if taken else ():
        value = inputs[name]
        if name == "prediction":
            if isinstance(value, Mapping) and value.get("type") == "content" and "content" in value:
                params["prediction"] = left.pop(name)
            continue
        del left[name]
        if name == "demos":
            if not isinstance(value, str | list | tuple):
                raise _refused(name, "TypeError")
            demos = [one for one in value if isinstance(one, Mapping)]
        elif name == "config":
            if not isinstance(value, Mapping):
                raise _refused(name, "TypeError")
            params |= value
        elif name != "lm" or value:
            raise _refused(name, {"lm": "ValueError", "new_signature": "AssertionError"}.get(name, "TypeError"))
    return PredictCall(left, demos, params)


def _refused(name: str, raised: str) -> BuildError:
    return BuildError(f"dspy.Predict takes an input of this name for itself and raises {raised}", RENAME, name)
