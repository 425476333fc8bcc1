"""`Noul`, `Choice` and `Score`: decisions with confidence, experimental in dspy 3.4.1.

The model returns evidence (probabilities), from which `adapters.requests.decisions` computes the decision. Inside
another type they are plain structured JSON, and the model returns value and confidence itself.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, cast, get_args, get_origin

import pydantic
from pydantic import ConfigDict, Field, JsonValue
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import core_schema

from adapters.types.base import SCHEMA_TEXTS, Type
from adapters.types.recognition import kind_of, options_of, type_adapter

MODULE = "dspy.adapters.decision"
"""The `__module__` of evidence types, by which pydantic distinguishes types of the same name in a schema."""

Probability = Annotated[float, Field(ge=0, le=1)]


class Decision(Type):
    # The base of the three types; `criteria_json` stores the criteria declared in `[…]`.
    model_config = ConfigDict(extra="forbid")
    criteria_json: ClassVar[str] = "null"

    confidence: Probability = Field(description="Confidence in the value, from 0 to 1.")

    @classmethod
    def criteria(cls) -> Any:
        """Return the declared criteria: descriptions by label, a list for Score, None without criteria."""
        return json.loads(cls.criteria_json)

    @pydantic.model_serializer(mode="wrap")
    def serialize_model(self, handler: Any) -> object:  # type: ignore[override]
        return {key: value for key, value in handler(self).items() if value is not None or key == "value"}

    def __repr_name__(self) -> str:
        return kind_of(type(self)).capitalize()

    def __repr_args__(self) -> list[tuple[str | None, object]]:
        """Show the value first and leave out unknown parts, for short lines."""
        known = [(name, part) for name, part in self.__dict__.items() if part is not None or name == "value"]
        return sorted(known, key=lambda pair: pair[0] != "value")


class Noul(Decision):
    __doc__ = SCHEMA_TEXTS["Noul"]

    value: bool = Field(strict=True)
    probability: SkipJsonSchema[Probability | None] = None

    def __class_getitem__(cls, options: object) -> type[Noul]:
        """Make `Noul[(True, "blocked"), (False, "usable")]`, with either or both. Raises ValueError for others."""
        pairs = _option_pairs(options)
        if any(type(value) is not bool for value, _ in pairs) or len(dict(pairs)) != len(pairs):
            raise ValueError("Noul criteria require distinct True/False values with JSON descriptions.")
        told = [(value, _plain(desc)) for value, desc in sorted(pairs, reverse=True)]
        criteria = json.dumps({str(value).lower(): desc for value, desc in told})
        made: type[Noul] = _with_criteria(Noul, ", ".join(map(repr, told)), criteria)
        return made

    @classmethod
    def description(cls) -> str:
        criteria = f" Criteria: {cls.criteria_json}." if cls.criteria() else ""
        return f"A Boolean decision.{criteria}"

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Any) -> Any:
        return core_schema.bool_schema() if source is bool else handler(source)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: object, handler: Any) -> Any:
        return {**handler(schema), "description": cls.description()}

    def __bool__(self) -> bool:
        return self.value


class Score(Decision):
    __doc__ = SCHEMA_TEXTS["Score"]

    value: float = Field(allow_inf_nan=False)
    probabilities: SkipJsonSchema[dict[int, Probability] | None] = None
    level: SkipJsonSchema[int | None] = Field(default=None, ge=0, strict=True)

    def __class_getitem__(cls, options: object) -> type[Score]:
        """Make `Score["poor", "fair", "excellent"]`, levels in increasing order. Raises ValueError for others."""
        if not isinstance(options, tuple) or len(options) < 2:
            raise ValueError("Score requires at least two ordered level descriptions, e.g. Score['poor', 'excellent'].")
        if None in options:
            raise ValueError("Score level descriptions cannot be null.")
        levels = [_plain(desc) for desc in options]
        made: type[Score] = _with_criteria(Score, ", ".join(map(repr, levels)), json.dumps(levels))
        return made

    @classmethod
    def description(cls) -> str:
        criteria = cls.criteria() or []
        return (
            f"Continuous score from 0 to {len(criteria) - 1}; intermediate values are allowed. "
            f"Rubric (level index, description): {json.dumps(list(enumerate(criteria)))}."
        )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Any) -> Any:
        if source is float:
            raise ValueError("Use Score[...] directly as the field type, not Annotated[float, Score[...]].")
        return handler(source)

    def __float__(self) -> float:
        return self.value


class Choice(Decision):
    __doc__ = SCHEMA_TEXTS["Choice"]

    value: str | int | bool | None
    probabilities: SkipJsonSchema[dict[str, Probability] | None] = None

    def __class_getitem__(cls, options: object) -> type[Choice]:
        """Make `Choice[("billing", "Payment issue"), ("technical", "Product bug")]`. Raises ValueError for others."""
        pairs = _option_pairs(options)
        values = [value for value, _ in pairs]
        if any(type(value) not in (str, int, bool, type(None)) for value in values):
            raise ValueError("Choice values must be strings, integers, booleans, or None.")
        if len({str(value) for value in values}) != len(values):
            raise ValueError("Choice values must have distinct string labels (e.g. 1 and '1' are ambiguous).")
        told = [(value, _plain(desc)) for value, desc in pairs]
        criteria = json.dumps({str(value): desc for value, desc in told})
        made: type[Choice] = _with_criteria(Choice, ", ".join(map(repr, told)), criteria, tuple(values))
        return made

    @classmethod
    def description(cls) -> str:
        criteria = cls.criteria()
        if criteria is None:
            return "Select exactly one of the declared Literal values."
        options = [(value, criteria[str(value)]) for value in options_of(cls)]
        return f"Select exactly one value. Options: {json.dumps(options)}."

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: Any) -> Any:
        if get_origin(source) is Literal and cls.criteria() is not None:
            if {(type(one), one) for one in get_args(source)} != {(type(one), one) for one in options_of(cls)}:
                raise ValueError("Choice criteria must match the Literal members, including their Python types.")
        return handler(source)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: object, handler: Any) -> Any:
        return {**handler(schema), "description": cls.description()}


def _option_pairs(options: Any) -> tuple[tuple[object, object], ...]:
    # A single pair in brackets is passed as the pair itself, not as a tuple of pairs.
    if isinstance(options, tuple) and len(options) == 2 and not isinstance(options[0], tuple):
        options = (options,)
    is_pairs = isinstance(options, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in options)
    if not is_pairs or not options:
        raise ValueError("Declare options as (value, description) pairs.")
    return options  # type: ignore[no-any-return]


def _plain(description: object) -> Any:
    """Return a description as JSON has it. Raises ValueError if it is not JSON."""
    if not isinstance(description, str | dict | list | None):
        raise ValueError("Decision descriptions must be JSON strings, objects, arrays, or null.")
    type_adapter(JsonValue).validate_python(description, strict=True)
    return json.loads(json.dumps(description, allow_nan=False))


@lru_cache(maxsize=256)
def _with_criteria(base: Any, shown: str, criteria: str, values: tuple[object, ...] = ()) -> Any:
    """Make `base[…]`, always the same class; `shown` are its options as written, in which 1 and True differ."""
    narrowed: dict[str, Any] = {}
    if base is Choice:
        narrowed["value"] = (Literal[values], ...)
    elif base is Score:
        last, skipped = len(json.loads(criteria)) - 1, cast(Any, SkipJsonSchema)
        narrowed["value"] = (float, Field(ge=0, le=last, allow_inf_nan=False))
        narrowed["level"] = (skipped[int | None], Field(default=None, ge=0, le=last, strict=True))
    made = pydantic.create_model(f"{base.__name__}[{shown}]", __base__=base, **narrowed)
    made.criteria_json = criteria
    return made


@lru_cache(maxsize=256)
def evidence_type(decision_type: Any) -> type[pydantic.BaseModel]:
    """Make the type of the evidence that a model returns for a decision.

    Rule: `dspy.adapters.decision.evidence_type`.
    """
    kind = kind_of(decision_type)
    name = kind.capitalize()
    fields: dict[str, Any]
    if kind == "noul":
        fields = {"noul": (Probability, Field(description="Probability that the answer is true."))}
    else:
        criteria = decision_type.criteria()
        labels = range(len(criteria)) if kind == "score" else criteria
        shares: dict[str, Any] = {
            f"option_{place}": (Probability, Field(alias=str(label))) for place, label in enumerate(labels)
        }
        probabilities = pydantic.create_model(
            f"{name}Probabilities", __config__=ConfigDict(extra="forbid"), __module__=MODULE, **shares
        )
        fields = {
            "probabilities": (probabilities, Field(description="Probability of each option; sum to one.")),
            "confidence": (Probability, Field(description="Confidence in the decision, from 0 to 1.")),
        }
    made: type[pydantic.BaseModel] = pydantic.create_model(
        f"{name}Evidence", __config__=ConfigDict(extra="forbid"), __module__=MODULE, **fields
    )
    return made
