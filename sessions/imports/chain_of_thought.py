"""A given signature as `dspy.ChainOfThought` runs it, where what is imported has a `reasoning` that it lacks."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from sessions.model.session import Predictor, SignatureText

COT: Predictor = "ChainOfThought"
REASONING = "reasoning"
"""The output that `dspy.ChainOfThought.__init__` puts in front of the others."""

SAID = "it was run as a ChainOfThought: `reasoning` stands in front of the signature's outputs"


def fitting(given: SignatureText, names: Sequence[str]) -> SignatureText:
    """`given`, or the same as a ChainOfThought: where `names`, the fields of what is imported in their order, have the
    reasoning directly in front of the first output and `given` has no such field."""
    signature = given.read()
    outputs = list(signature.output_fields)
    if given.predictor == COT or REASONING in signature.fields or not outputs:
        return given
    return replace(given, predictor=COT) if (REASONING, outputs[0]) in itertools.pairwise(names) else given
