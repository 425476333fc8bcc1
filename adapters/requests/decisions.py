"""Decisions: ask a model for evidence, and compute values by thresholds, cuts and weights.

Rules: `dspy.adapters.decision.DecisionAdapter` and `dspy.adapters.decision_state.DecisionState` of dspy 3.4.1, where
all of it is experimental. Parts for a backend of probabilities alone (TypeSafe's) are omitted.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import lru_cache
from typing import Any, Literal, get_args, get_origin

import pydantic

from adapters.late_dataclasses import dataclass, replace
from adapters.signatures.signature import Field, Signature
from adapters.types.recognition import Kind, is_decision_type, is_kind_of, kind_of, options_of, type_adapter

PARAMETERS: Mapping[Kind, str] = {"noul": "threshold", "score": "cuts", "choice": "weights"}


@dataclass(frozen=True)
class Decision:
    """A decided output: its rich type (also for plain bool) and complete settings."""

    name: str
    type: Any
    """Our or dspy's `Noul`, `Score[…]` or `Choice[…]`."""
    is_plain: bool
    """True if the value is plain (`bool`, a Literal's value) instead of the rich type."""
    settings: Mapping[str, Any]

    @property
    def kind(self) -> Kind:
        return kind_of(self.type)

    @property
    def parameter(self) -> str:
        """Return the name of the setting that determines the value."""
        return PARAMETERS[self.kind]

    @property
    def labels(self) -> list[str]:
        """Return the options or levels, in declaration order."""
        criteria = self.type.criteria()
        return [str(index) for index in range(len(criteria))] if self.kind == "score" else list(criteria)

    def question(self, field: Field) -> dict[str, Any]:
        """Return the field's new description. Raises ValueError without a description or instructions."""
        if "instructions" not in self.settings and not field.description.strip():
            raise ValueError(
                f"Decision output {self.name!r} requires an OutputField(desc=...) or explicit instructions."
            )
        question = {"instructions": self.settings.get("instructions", field.description), "type": self.kind}
        criteria = self.settings.get("criteria", self.type.criteria())
        if self.kind == "choice" and "criteria" not in self.settings:
            criteria = {label: None if desc == "" else desc for label, desc in criteria.items()}
        if criteria is not None or "criteria" in self.settings:
            question["criteria"] = criteria
        return question

    def value_of(self, evidence: object) -> Any:
        """Compute the value from the evidence. Raises dspy's errors for evidence that decides nothing."""
        answer: Any = (
            evidence.model_dump(by_alias=True) if isinstance(evidence, pydantic.BaseModel) else deepcopy(evidence)
        )
        if self.kind == "noul":
            probability, threshold = answer["noul"], self.settings["threshold"]
            confidence = abs(probability - threshold) / max(threshold, 1 - threshold)
            decided = self.type(value=probability >= threshold, probability=probability, confidence=confidence)
        else:
            decided = self._score(answer) if self.kind == "score" else self._choice(answer)
        return decided.value if self.is_plain else decided

    def _score(self, answer: Any) -> Any:
        given = answer["probabilities"]
        if any(type(key) not in (int, str) or str(key) not in self.labels for key in given):
            raise ValueError(f"Invalid Score distribution for {self.name!r}.")
        probabilities = {int(key): share for key, share in given.items()}
        if set(probabilities) != set(range(len(self.labels))) or sum(probabilities.values()) <= 0:
            raise ValueError(f"Invalid Score distribution for {self.name!r}.")
        value = sum(index * share for index, share in probabilities.items()) / sum(probabilities.values())
        level = sum(value >= cut for cut in self.settings["cuts"])
        return self.type(value=value, confidence=answer["confidence"], probabilities=probabilities, level=level)

    def _choice(self, answer: Any) -> Any:
        options = {str(value): value for value in options_of(self.type)}
        probabilities = answer["probabilities"]
        if set(probabilities) != set(options) or sum(probabilities.values()) <= 0:
            raise ValueError(f"Invalid Choice answer for {self.name!r}.")
        most_probable = max(options, key=probabilities.get)
        weights = self.settings["weights"]
        scores = {label: probabilities[label] * weights.get(label, 1.0) for label in options}
        # Ties go to the most probable option, then to the first declared.
        selected = max(scores, key=lambda label: (scores[label], label == most_probable))
        if scores[selected] <= 0:
            raise ValueError(f"Choice weights for {self.name!r} leave no positive probability mass.")
        return self.type(value=options[selected], confidence=answer["confidence"], probabilities=probabilities)


@dataclass(frozen=True)
class Decisions:
    """The decisions of a signature, and the signature that asks for their evidence."""

    by_name: Mapping[str, Decision]
    asked: Signature

    def with_examples(self, demos: Sequence[Mapping[str, Any]]) -> Signature:
        """Add demos to `asked` as examples in its instructions, since they have no evidence."""
        if not demos:
            return self.asked
        examples = [{key: _plain(demo[key]) for key in demo if key in self.asked.fields} for demo in demos]
        return self.asked.with_instructions(
            f"{self.asked.instructions}\n\nTask examples (labels or evidence):\n{json.dumps(examples)}"
        )


@lru_cache(maxsize=256)
def decisions_of(signature: Signature) -> Decisions | None:
    """Return the decisions among the outputs, if any. Raises ValueError for invalid settings.

    A plain bool or Literal is a decision if its settings say so or its `Annotated` contains a decision type.
    """
    found: dict[str, Decision] = {}
    for name, field in signature.output_fields.items():
        if is_decided(field):
            decided = _type_of(field)
            settings = {**_defaults(decided), **(field.decision or {})}
            found[name] = Decision(name, decided, field.annotation is not decided, settings)
    configured = {name for name, field in signature.output_fields.items() if field.decision is not None}
    unsupported = sorted(configured - found.keys())
    if unsupported:
        raise ValueError(f"Decision configuration refers to unsupported outputs: {unsupported}.")
    for one in found.values():
        _check(one)
    if not found:
        return None
    from adapters.types.decision import evidence_type

    asked = signature
    for name, one in found.items():
        question = json.dumps(one.question(signature.output_fields[name]), ensure_ascii=False, indent=2)
        asked = asked.with_updated_fields(name, evidence_type(one.type), desc=f"\n{question}")
    undecided = tuple([replace(one, decision=None) for one in asked.fields_in_order])
    return Decisions(found, Signature(undecided, asked.instructions, asked.name))


@lru_cache(maxsize=4096)
def is_decided(field: Field) -> bool:
    """Return whether an output is computed from evidence, by type, `Annotated` or settings."""
    declared = any(is_decision_type(one) for one in (field.annotation, *field.metadata))
    return (field.decision is not None or declared) and _type_of(field) is not None


def has_decisions(signature: Signature) -> bool:
    return any(map(is_decided, signature.output_fields.values()))


def _type_of(field: Field) -> Any:
    """Return the decision type of a field, or None. Rule: `dspy.adapters.types.decision.decision_type`."""
    from adapters.types.decision import Choice, Noul

    annotation = field.annotation
    if annotation is bool:
        return next((one for one in field.metadata if is_kind_of(one, "Noul")), Noul)
    if get_origin(annotation) is Literal:
        declared = next((one for one in field.metadata if is_kind_of(one, "Choice")), None)
        if declared is not None and declared.criteria() is not None:
            return declared
        made: Any = Choice
        return made[tuple((value, "") for value in get_args(annotation))]
    if is_decision_type(annotation) and (is_kind_of(annotation, "Noul") or annotation.criteria() is not None):
        return annotation
    return None


def _defaults(decision_type: Any) -> dict[str, Any]:
    kind = kind_of(decision_type)
    if kind == "noul":
        return {"threshold": 0.5}
    criteria = decision_type.criteria()
    if kind == "score":
        return {"cuts": [place + 0.5 for place in range(len(criteria) - 1)]}
    return {"weights": dict.fromkeys(criteria, 1.0)}


def _check(one: Decision) -> None:
    """Raise ValueError for invalid settings. Rule: `DecisionState._validate_parameters`."""
    name, settings, parameter = one.name, one.settings, one.parameter
    if not settings.keys() <= {"instructions", "criteria", parameter}:
        raise ValueError(
            f"Invalid configuration for {name!r}: require {parameter!r}, with optional instructions and criteria."
        )
    for label in ("instructions", "criteria"):
        if label in settings:
            entry = settings[label]
            if not isinstance(entry, str | dict | list | None):
                raise ValueError(f"Invalid {label} for {name!r}: expected a string, object, array, or null.")
            try:
                type_adapter(pydantic.JsonValue).validate_python(entry, strict=True)
                json.dumps(entry, allow_nan=False)
            except (TypeError, ValueError) as error:
                raise ValueError(f"Invalid JSON in {label} for {name!r}.") from error
    if "criteria" in settings:
        _check_criteria(one, settings["criteria"])
    value, labels = settings[parameter], one.labels if one.kind != "noul" else []
    if one.kind == "noul":
        if type(value) not in (int, float) or not 0 <= value <= 1:
            raise ValueError(f"Threshold for {name!r} must be in [0, 1].")
    elif one.kind == "score":
        are_cuts = (
            2 <= len(labels) <= 10
            and isinstance(value, list)
            and len(value) == len(labels) - 1
            and all(type(cut) in (int, float) and 0 < cut < len(labels) - 1 for cut in value)
            and all(before < after for before, after in itertools.pairwise(value))
        )
        if not are_cuts:
            raise ValueError(f"Invalid cuts for {name!r}: require ordered boundaries inside the Score index range.")
    else:
        are_weights = (
            isinstance(value, dict)
            and set(value) <= set(labels)
            and all(type(weight) in (int, float) and 0 <= weight < math.inf for weight in value.values())
            and any(value.get(label, 1.0) > 0 for label in labels)
        )
        if not are_weights:
            raise ValueError(
                f"Choice weights for {name!r} must map known string labels to finite, nonnegative numbers "
                "with at least one positive effective weight."
            )


def _check_criteria(one: Decision, criteria: Any) -> None:
    if one.kind == "noul":
        is_fit = criteria is None or (isinstance(criteria, dict) and criteria.keys() <= {"true", "false"})
    elif one.kind == "choice":
        is_fit = isinstance(criteria, dict) and criteria.keys() == set(one.labels)
    else:
        is_fit = (
            isinstance(criteria, list)
            and len(criteria) == len(one.labels)
            and 2 <= len(criteria) <= 10
            and None not in criteria
        )
    if not is_fit:
        raise ValueError(f"Invalid criteria for {one.name!r}: must match the declared decision type and options.")
    entries = criteria.values() if isinstance(criteria, dict) else criteria or []
    if any(not isinstance(entry, str | dict | list | None) for entry in entries):
        raise ValueError(f"Invalid criteria description for {one.name!r}.")


def _plain(value: object) -> Any:
    """Convert models in nested lists and dicts to plain JSON. Rule: `dspy.predict.predict.serialize_object`."""
    if isinstance(value, pydantic.BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, list | tuple):
        made = [_plain(item) for item in value]
        return tuple(made) if isinstance(value, tuple) else made
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
