"""Closed tables of the names that a signature may use and call. Nothing else is imported or called.

A call made while reading a text builds a value from its arguments, costs no more than their size, and uses neither
files nor the network.
"""

from __future__ import annotations

import collections.abc
import datetime
import decimal
import enum
import fractions
import inspect
import ipaddress
import pathlib
import re
import textwrap
import typing
import uuid
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import Any

import pydantic
import typing_extensions
from pydantic.alias_generators import to_camel, to_pascal, to_snake

from adapters.late_dataclasses import dataclass
from adapters.signatures.signature import Role
from adapters.signatures.type_names import NotRun
from adapters.types.recognition import DECISIONS


@dataclass(frozen=True)
class Module:
    """A module that a dotted name may contain."""

    name: str


@dataclass(frozen=True)
class FieldMaker:
    """`dspy.InputField` or `dspy.OutputField`."""

    role: Role


@dataclass(frozen=True)
class Refused:
    """A known name that is not supported."""

    name: str
    reason: str
    hint: str


class _SignatureBase:
    """Type of `SIGNATURE`, which represents `dspy.Signature` as a base class and as a function."""


SIGNATURE = _SignatureBase()

DSPY_TYPES = tuple("Image Audio File Code History Reasoning Tool ToolCalls ToolCallResults Citations Document".split())
EXPERIMENTAL = ("Citations", "Document", *DECISIONS)
"""Types found in `dspy.experimental`, not in `dspy`."""

_INSIDE_DSPY = "dspy.experimental"
"""Name used for every module inside dspy."""

_DSPY_MODULES = frozenset(
    "adapters types experimental signatures signature field image audio file code history reasoning tool citation"
    " document base_type decision".split()
)

STRING_BUILTINS = frozenset("int str float bool list tuple dict set frozenset complex bytes bytearray".split())
"""Builtins that dspy's string notation knows (`dspy.signatures.signature._parse_type_node`)."""

FUNCTIONS: Mapping[str, Any] = MappingProxyType(
    {one.__name__: one for one in (len, min, max, sum, sorted, abs, enumerate, zip, reversed, range)}
)
"""Functions that may be called with constant arguments."""

FUNCTIONS_OF_ITEMS = frozenset({enumerate, zip, reversed, range})
"""Functions that return iterators, which are converted to lists."""

SOURCE_BUILTINS = STRING_BUILTINS | {"object", "type"} | frozenset(FUNCTIONS)

_PYDANTIC = frozenset(
    """
    BaseModel RootModel Field ConfigDict PrivateAttr AliasChoices AliasPath AliasGenerator StringConstraints Strict
    Discriminator Tag WithJsonSchema AllowInfNan FailFast UrlConstraints SkipValidation computed_field
    field_validator model_validator validator root_validator field_serializer model_serializer
    AfterValidator BeforeValidator WrapValidator PlainSerializer WrapSerializer SerializeAsAny
    AnyUrl AnyHttpUrl FileUrl HttpUrl FtpUrl WebsocketUrl AnyWebsocketUrl PostgresDsn RedisDsn MongoDsn KafkaDsn
    AmqpDsn MySQLDsn MariaDBDsn CockroachDsn NatsDsn ClickHouseDsn SnowflakeDsn EmailStr NameEmail IPvAnyAddress
    IPvAnyInterface IPvAnyNetwork
    StrictStr StrictBytes StrictInt StrictFloat StrictBool PositiveInt NegativeInt NonNegativeInt NonPositiveInt
    PositiveFloat NegativeFloat NonNegativeFloat NonPositiveFloat FiniteFloat
    conint confloat constr conbytes conlist conset confrozenset condecimal condate
    UUID1 UUID3 UUID4 UUID5 UUID6 UUID7 UUID8 FilePath DirectoryPath NewPath SocketPath Json Secret SecretStr
    SecretBytes Base64Bytes Base64Str Base64UrlBytes Base64UrlStr ByteSize PastDate FutureDate PastDatetime
    FutureDatetime AwareDatetime NaiveDatetime JsonValue OnErrorOmit PaymentCardNumber
    """.split()
)


_CODE_OF_PYDANTIC = ("ImportString", "GetPydanticSchema", "ValidateAs", "InstanceOf", "PlainValidator")


_MEMBERS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "typing": frozenset(typing.__all__),
        "typing_extensions": frozenset(typing_extensions.__all__),
        "collections": frozenset("OrderedDict deque defaultdict Counter".split()),
        "collections.abc": frozenset(collections.abc.__all__),
        "datetime": frozenset("date datetime time timedelta timezone".split()),
        "decimal": frozenset("Decimal".split()),
        "fractions": frozenset("Fraction".split()),
        "uuid": frozenset("UUID uuid1 uuid4".split()),
        "pathlib": frozenset("Path PurePath PosixPath PurePosixPath PureWindowsPath".split()),
        "enum": frozenset("Enum IntEnum StrEnum Flag IntFlag auto unique".split()),
        "ipaddress": frozenset("IPv4Address IPv6Address IPv4Network IPv6Network IPv4Interface IPv6Interface".split()),
        "abc": frozenset("ABC abstractmethod".split()),
        "re": frozenset("Pattern".split()),
        "types": frozenset("NoneType".split()),
        "dataclasses": frozenset("dataclass field KW_ONLY".split()),
        "textwrap": frozenset("dedent".split()),
        "inspect": frozenset("cleandoc".split()),
        "annotated_types": frozenset("Gt Ge Lt Le Interval MultipleOf MinLen MaxLen Len Unit Timezone".split()),
        "pydantic": _PYDANTIC,
        "pydantic.alias_generators": frozenset("to_camel to_pascal to_snake".split()),
        "pydantic.dataclasses": frozenset("dataclass".split()),
        "pydantic.json_schema": frozenset("SkipJsonSchema".split()),
    }
)
_INSIDE_PYDANTIC = frozenset("types fields networks main config functional_validators functional_serializers".split())
"""Modules of pydantic whose names are also available in `pydantic`."""


def known_module(dotted: str) -> Module | None:
    """Find a module by its dotted name; None if its names may not be used."""
    if dotted.startswith("pydantic.") and dotted.removeprefix("pydantic.") in _INSIDE_PYDANTIC:
        dotted = "pydantic"
    if dotted in _MEMBERS or dotted == "dspy":
        return Module(dotted)
    if dotted.startswith("dspy.") and all(part in _DSPY_MODULES for part in dotted.split(".")[1:]):
        return Module(_INSIDE_DSPY)
    return None


@lru_cache(maxsize=1024)
def member(module: Module, name: str) -> object:
    """Find the meaning of `module.name`. Raises LookupError for names that are not in the table."""
    if module.name in ("dspy", _INSIDE_DSPY):
        if module.name == "dspy" and name in EXPERIMENTAL:
            return Refused(f"dspy.{name}", "dspy has it among its experiments", f"from dspy.experimental import {name}")
        if name in ("InputField", "OutputField"):
            return FieldMaker("input" if name == "InputField" else "output")
        if name in ("Signature", "make_signature", "ensure_signature"):
            return SIGNATURE
        if name in DSPY_TYPES or name in DECISIONS or name == "Type":
            from adapters import types as custom_types

            return getattr(custom_types, name)
        if name in _DSPY_MODULES:
            return Module(_INSIDE_DSPY)
        raise LookupError(name)
    if module.name == "pydantic" and name in _CODE_OF_PYDANTIC:
        return Refused(f"pydantic.{name}", "its values are imported or built by code", "use str")
    deeper = known_module(f"{module.name}.{name}")
    if deeper is not None:
        return deeper
    owner = import_module(module.name) if name in _MEMBERS[module.name] else None
    if owner is None or not hasattr(owner, name):
        raise LookupError(name)
    return getattr(owner, name)


def member_names(module: Module) -> list[str]:
    """List the names that `member` finds, for suggestions."""
    if module.name in ("dspy", _INSIDE_DSPY):
        return ["Signature", "InputField", "OutputField", "Type", *DSPY_TYPES]
    return sorted(_MEMBERS[module.name])


def home_of(found: object) -> tuple[str, str] | None:
    """Find the module and name of an object in the table, such as `("datetime", "date")`; None for others."""
    home = _homes().get(id(found))
    if home is None and getattr(found, "__module__", "").partition(".")[0] == "pydantic":
        name = getattr(found, "__name__", "")
        if name in _PYDANTIC and getattr(pydantic, name, None) is found:
            return ("pydantic", name)
    return home


@lru_cache(maxsize=1)
def _homes() -> dict[int, tuple[str, str]]:
    homes: dict[int, tuple[str, str]] = {}
    for module, names in _MEMBERS.items():
        if module.startswith("pydantic"):
            continue
        owner = import_module(module)
        for name in sorted(names):
            # The first module that has an object wins; names that this version of a library lacks are skipped.
            if hasattr(owner, name):
                homes.setdefault(id(getattr(owner, name)), (module, name))
    return homes


_BARE_BY_MODULE: tuple[tuple[str, Iterable[str]], ...] = (
    ("pydantic", (*_PYDANTIC, *_CODE_OF_PYDANTIC)),
    *((module, _MEMBERS[module]) for module in ("enum", "datetime", "decimal", "fractions", "types")),
    *(("dataclasses", ("dataclass",)), ("uuid", ("UUID",)), ("pathlib", ("Path",))),
    ("dspy", (*DSPY_TYPES, "Signature", "InputField", "OutputField")),
    *((_INSIDE_DSPY, EXPERIMENTAL), ("typing", typing.__all__)),
)
"""Names that are known without an import, by module; the last module counts."""
_BARE: Mapping[str, tuple[str, str]] = MappingProxyType(
    {name: (module, name) for module, names in _BARE_BY_MODULE for name in names}
)
_BARE_MODULES: Mapping[str, str] = MappingProxyType(
    {"t": "typing", "dt": "datetime"}
    | {
        name: name
        for name in (
            *("typing", "typing_extensions", "dspy", "pydantic", "annotated_types", "collections", "decimal"),
            *("fractions", "uuid", "pathlib", "enum", "ipaddress", "re", "types", "dataclasses", "textwrap", "inspect"),
        )
    }
)


@lru_cache(maxsize=1024)
def bare(name: str, builtin_names: frozenset[str] = SOURCE_BUILTINS) -> object:
    """Find the meaning of a name as if it were imported. Raises LookupError for unknown names."""
    if name in builtin_names:
        return _BUILTINS[name]
    if name in _BARE:
        module, attribute = _BARE[name]
        return member(Module(module), attribute)
    if name in _BARE_MODULES:
        return Module(_BARE_MODULES[name])
    raise LookupError(name)


def bare_names() -> list[str]:
    """List the names that `bare` finds as types, for suggestions."""
    return sorted({*STRING_BUILTINS, *_BARE})


def import_of(name: str) -> str:
    """Write the import statement of a bare name; "" for builtins and unknown names."""
    if name in _BARE:
        return f"from {_BARE[name][0]} import {name}"
    module = _BARE_MODULES.get(name, "")
    return f"import {module}" + (f" as {name}" if module != name else "") if module else ""


_BUILTINS: Mapping[str, object] = MappingProxyType(
    {
        one.__name__: one
        for one in (
            *(int, str, float, bool, list, tuple, dict, set, frozenset, complex, bytes, bytearray),
            *(object, type, *FUNCTIONS.values()),
        )
    }
)


LARGEST_RANGE = 10_000


@lru_cache(maxsize=1)
def constructors() -> frozenset[object]:
    """Return the callables that may be called: each only builds a value from its arguments."""
    import annotated_types

    named = (
        (pydantic, "AliasChoices AliasPath StringConstraints Strict Discriminator Tag WithJsonSchema AllowInfNan"),
        (pydantic, "UrlConstraints SecretStr FailFast ConfigDict conint confloat constr conbytes conlist conset"),
        (pydantic, "confrozenset condecimal condate"),
        (annotated_types, "Gt Ge Lt Le Interval MultipleOf MinLen MaxLen Len Timezone"),
        (ipaddress, "IPv4Address IPv6Address IPv4Network IPv6Network"),
        (datetime, "date datetime time timedelta timezone"),
    )
    return frozenset(
        {
            *(getattr(module, name) for module, names in named for name in names.split()),
            *(decimal.Decimal, fractions.Fraction, uuid.UUID, pathlib.Path, pathlib.PurePath),
            *(list, dict, set, tuple, frozenset, str, int, float, bool, bytes, complex),
            *(textwrap.dedent, inspect.cleandoc, enum.auto, *FUNCTIONS.values()),
        }
    )


FACTORIES: frozenset[object] = frozenset(
    {
        *(list, dict, set, tuple, frozenset, str, int, float, bool, bytes),
        *(uuid.uuid1, uuid.uuid4, datetime.datetime.now, datetime.datetime.utcnow, datetime.date.today),
    }
)
"""Callables allowed as a field's `default_factory`; called for a missing value, not while reading the text."""


NOT_READ = "other files are not read"
"""The reason why an import is unknown in a text alone."""

CALLABLE_VALUES = frozenset({to_camel, to_pascal, to_snake})
"""Functions that may be used as a value: alias generators of a model."""


@lru_cache(maxsize=1)
def not_run() -> Mapping[Any, str]:
    """Return pydantic's validators and serializers by name; `NotRun` replaces them, so their code never runs."""
    names = ("AfterValidator", "BeforeValidator", "WrapValidator", "PlainSerializer", "WrapSerializer")
    return MappingProxyType({getattr(pydantic, name): name for name in names})


def is_not_run(metadata: object) -> bool:
    """Test whether metadata of `Annotated` is a validator or serializer, live or read from source."""
    return isinstance(metadata, (NotRun, *not_run()))


def is_cheap(function: object, argument: object) -> bool:
    """Test whether a call's cost is bounded by its argument's size, unlike `bytes(10**9)` or a list of a network."""
    if function in (list, tuple, set, frozenset, dict):
        return isinstance(argument, list | tuple | set | frozenset | dict | str | enum.EnumMeta)
    if function is range:
        return isinstance(argument, int) and abs(argument) <= LARGEST_RANGE
    if function in FUNCTIONS.values():
        return isinstance(argument, list | tuple | set | frozenset | dict | str | int | float | enum.EnumMeta)
    if function is bytes:
        return isinstance(argument, list | tuple | bytes)
    if function is fractions.Fraction and isinstance(argument, str):
        return re.fullmatch(r"\s*[+-]?\d{1,1000}(/\d{1,1000})?\s*", argument) is not None
    return True


CLOCKS = frozenset(
    {(datetime.datetime, "now"), (datetime.datetime, "utcnow"), (datetime.date, "today"), (datetime.timezone, "utc")}
)
"""Class attributes that may be named: factories that read the clock, and UTC."""
