"""What the source of a signature may call, as closed lists, and what stands for calls that are not made.

What is called while a text is read builds a value out of its arguments, is bounded by their size, and touches neither
files nor the network.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import inspect
import ipaddress
import pathlib
import re
import textwrap
import types
import uuid
from collections.abc import Mapping
from typing import Any

import annotated_types
import pydantic

from adapters.signatures.read import known_names
from adapters.signatures.type_walk import NotRun

LARGEST_RANGE = 10_000

CONSTRUCTORS: frozenset[Any] = frozenset(
    {
        *(decimal.Decimal, fractions.Fraction, uuid.UUID, pathlib.Path, pathlib.PurePath),
        *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta, datetime.timezone),
        *(ipaddress.IPv4Address, ipaddress.IPv6Address, ipaddress.IPv4Network, ipaddress.IPv6Network),
        *(list, dict, set, tuple, frozenset, str, int, float, bool, bytes, complex),
        *(pydantic.AliasChoices, pydantic.AliasPath, pydantic.StringConstraints, pydantic.Strict),
        *(pydantic.Discriminator, pydantic.Tag, pydantic.WithJsonSchema, pydantic.AllowInfNan, pydantic.UrlConstraints),
        *(pydantic.SecretStr, pydantic.FailFast, pydantic.ConfigDict),
        *(pydantic.conint, pydantic.confloat, pydantic.constr, pydantic.conbytes, pydantic.conlist, pydantic.conset),
        *(pydantic.confrozenset, pydantic.condecimal, pydantic.condate),
        *(annotated_types.Gt, annotated_types.Ge, annotated_types.Lt, annotated_types.Le, annotated_types.Interval),
        *(annotated_types.MultipleOf, annotated_types.MinLen, annotated_types.MaxLen, annotated_types.Len),
        *(annotated_types.Timezone, textwrap.dedent, inspect.cleandoc, enum.auto),
        *known_names.FUNCTIONS.values(),
    }
)
"""What may be called: each builds a value from its arguments and touches nothing else."""

FACTORIES: frozenset[Any] = frozenset(
    {
        *(list, dict, set, tuple, frozenset, str, int, float, bool, bytes),
        *(uuid.uuid1, uuid.uuid4, datetime.datetime.now, datetime.datetime.utcnow, datetime.date.today),
    }
)
"""What may stand as a field's `default_factory`: it is called when a default is wanted, not when the text is read."""

CALLABLE_VALUES: frozenset[Any] = frozenset(
    {
        pydantic.alias_generators.to_camel,
        pydantic.alias_generators.to_pascal,
        pydantic.alias_generators.to_snake,
    }
)
"""Functions that may stand as a value, as the alias generator of a model does."""

NOT_RUN: Mapping[Any, str] = types.MappingProxyType(
    {
        pydantic.AfterValidator: "AfterValidator",
        pydantic.BeforeValidator: "BeforeValidator",
        pydantic.WrapValidator: "WrapValidator",
        pydantic.PlainSerializer: "PlainSerializer",
        pydantic.WrapSerializer: "WrapSerializer",
    }
)
"""What would run code of the text on every value: its place is kept (`NotRun`), and the code left out."""


def is_not_run(metadata: Any) -> bool:
    """Whether it is a validator or serializer in an `Annotated`, live or read from source."""
    return isinstance(metadata, (NotRun, *NOT_RUN))


def is_cheap(function: Any, argument: Any) -> bool:
    """Whether the call takes no more than its argument is long: not `bytes(10**9)`, not a list of a whole network."""
    if function in (list, tuple, set, frozenset, dict):
        return isinstance(argument, list | tuple | set | frozenset | dict | str | enum.EnumMeta)
    if function is range:
        return isinstance(argument, int) and abs(argument) <= LARGEST_RANGE
    if function in known_names.FUNCTIONS.values():
        return isinstance(argument, list | tuple | set | frozenset | dict | str | int | float | enum.EnumMeta)
    if function is bytes:
        return isinstance(argument, list | tuple | bytes)
    if function is fractions.Fraction and isinstance(argument, str):
        return re.fullmatch(r"\s*[+-]?\d{1,1000}(/\d{1,1000})?\s*", argument) is not None
    return True


CLOCKS = frozenset(
    {(datetime.datetime, "now"), (datetime.datetime, "utcnow"), (datetime.date, "today"), (datetime.timezone, "utc")}
)
"""Attributes of classes that may be named: the factories that read a clock, and UTC."""
