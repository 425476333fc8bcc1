"""The schema of the outputs: as it goes out, and as litellm is given it to make of it what a provider takes."""

from __future__ import annotations

import copy
import json
from typing import Any

import dspy
import pydantic
from dspy.adapters.json_adapter import _get_structured_outputs_response_format

from adapters.lm.worker import litellm_worker
from adapters.requests.capabilities import Capabilities
from adapters.requests.strict_schema import ClassFormat, response_format
from adapters.signatures.signature import Signature


class Line(pydantic.BaseModel):
    note: str | None = None


class Found(pydantic.BaseModel):
    main: Line = pydantic.Field(description="the one that counts")


class Asked(dspy.Signature):
    """Find it."""

    question: str = dspy.InputField()
    found: Found = dspy.OutputField()


def made() -> Any:
    able = Capabilities(True, True, True, frozenset({"response_format"}))
    return response_format(Signature.from_dspy(Asked), able, True)


def test_litellm_is_handed_the_class_that_dspy_hands_it() -> None:
    form = made()
    assert isinstance(form, ClassFormat)
    theirs: Any = _get_structured_outputs_response_format(Asked)
    ours = litellm_worker.class_with(**form.of_class)
    assert ours.__name__ == theirs.__name__ and issubclass(ours, pydantic.BaseModel)
    templates = [{}, {"ref_template": "/$defs/{model}"}]
    schemas = [json.dumps(one.model_json_schema(**how)) for one in (theirs, ours) for how in templates]
    assert len(set(schemas)) == 1 and "#/$defs/Line" in schemas[0]


def test_what_is_shown_and_kept_is_plain_json_as_openai_gets_it() -> None:
    form = made()
    assert json.loads(json.dumps(form)) == form == copy.deepcopy(dict(form))
    assert form["json_schema"]["schema"] != form.of_class["schema"], "a reference with a description is written out"
