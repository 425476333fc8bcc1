"""The closed table of what a name in a signature can mean. Any other name is refused, and nothing is imported."""

from __future__ import annotations

import abc
import collections
import collections.abc
import dataclasses
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
import typing
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType, ModuleType
from typing import Any

import annotated_types
import pydantic
import pydantic.alias_generators
import pydantic.dataclasses
import pydantic.json_schema
import typing_extensions

from adapters.signatures.signature import Role
from adapters.types.recognition import DECISIONS


@dataclass(frozen=True)
class Module:
    """A module that a dotted name may go through."""

    name: str


@dataclass(frozen=True)
class FieldMaker:
    """`dspy.InputField` or `dspy.OutputField`."""

    role: Role


@dataclass(frozen=True)
class Refused:
    """A name that is known and that nothing here can stand for."""

    name: str
    reason: str
    hint: str


class _SignatureBase:
    """Stands for `dspy.Signature` among the bases of a class and as a function."""


SIGNATURE = _SignatureBase()

DSPY_TYPES = (
    "Image",
    "Audio",
    "File",
    "Code",
    "History",
    "Reasoning",
    "Tool",
    "ToolCalls",
    "ToolCallResults",
    "Citations",
    "Document",
)
EXPERIMENTAL = ("Citations", "Document", *DECISIONS)
"""Those that are no names of `dspy` itself."""

_INSIDE_DSPY = "dspy.experimental"
"""Stands for every module inside of dspy."""

_DSPY_MODULES = frozenset(
    "adapters types experimental signatures signature field image audio file code history reasoning tool citation"
    " document base_type decision".split()
)

STRING_BUILTINS = frozenset("int str float bool list tuple dict set frozenset complex bytes bytearray".split())
"""Builtins that dspy's string notation knows (`dspy.signatures.signature._parse_type_node`)."""

FUNCTIONS: Mapping[str, Any] = MappingProxyType(
    {one.__name__: one for one in (len, min, max, sum, sorted, abs, enumerate, zip, reversed, range)}
)
"""Functions that may be called with constants."""

FUNCTIONS_OF_ITEMS = frozenset({enumerate, zip, reversed, range})
"""Those of which the items are taken at once."""

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


def _names(module: ModuleType, names: str) -> tuple[ModuleType, frozenset[str]]:
    return module, frozenset(names.split())


_MEMBERS: Mapping[str, tuple[ModuleType, frozenset[str]]] = MappingProxyType(
    {
        "typing": (typing, frozenset(typing.__all__)),
        "typing_extensions": (typing_extensions, frozenset(typing_extensions.__all__)),
        "collections": _names(collections, "OrderedDict deque defaultdict Counter"),
        "collections.abc": (collections.abc, frozenset(collections.abc.__all__)),
        "datetime": _names(datetime, "date datetime time timedelta timezone"),
        "decimal": _names(decimal, "Decimal"),
        "fractions": _names(fractions, "Fraction"),
        "uuid": _names(uuid, "UUID uuid1 uuid4"),
        "pathlib": _names(pathlib, "Path PurePath PosixPath PurePosixPath PureWindowsPath"),
        "enum": _names(enum, "Enum IntEnum StrEnum Flag IntFlag auto unique"),
        "ipaddress": _names(ipaddress, "IPv4Address IPv6Address IPv4Network IPv6Network IPv4Interface IPv6Interface"),
        "abc": _names(abc, "ABC abstractmethod"),
        "re": _names(re, "Pattern"),
        "types": _names(types, "NoneType"),
        "dataclasses": _names(dataclasses, "dataclass field KW_ONLY"),
        "textwrap": _names(textwrap, "dedent"),
        "inspect": _names(inspect, "cleandoc"),
        "annotated_types": _names(annotated_types, "Gt Ge Lt Le Interval MultipleOf MinLen MaxLen Len Unit Timezone"),
        "pydantic": (pydantic, _PYDANTIC),
        "pydantic.alias_generators": _names(pydantic.alias_generators, "to_camel to_pascal to_snake"),
        "pydantic.dataclasses": _names(pydantic.dataclasses, "dataclass"),
        "pydantic.json_schema": _names(pydantic.json_schema, "SkipJsonSchema"),
    }
)
_SAME_MODULE = {
    "pydantic.types": "pydantic",
    "pydantic.fields": "pydantic",
    "pydantic.networks": "pydantic",
    "pydantic.main": "pydantic",
    "pydantic.config": "pydantic",
    "pydantic.functional_validators": "pydantic",
    "pydantic.functional_serializers": "pydantic",
}


def known_module(dotted: str) -> Module | None:
    """The module of that name, if names may be taken from it."""
    dotted = _SAME_MODULE.get(dotted, dotted)
    if dotted in _MEMBERS or dotted == "dspy":
        return Module(dotted)
    if dotted.startswith("dspy.") and all(part in _DSPY_MODULES for part in dotted.split(".")[1:]):
        return Module(_INSIDE_DSPY)
    return None


def member(module: Module, name: str) -> Any:
    """What `module.name` stands for. Raises LookupError when the table has no such name."""
    if module.name in ("dspy", _INSIDE_DSPY):
        return _dspy_member(module.name, name)
    if module.name == "pydantic" and name in _CODE_OF_PYDANTIC:
        return Refused(f"pydantic.{name}", "its values are imported or built by code", "use str")
    deeper = known_module(f"{module.name}.{name}")
    if deeper is not None:
        return deeper
    owner, names = _MEMBERS[module.name]
    if name not in names or not hasattr(owner, name):
        raise LookupError(name)
    return getattr(owner, name)


def member_names(module: Module) -> list[str]:
    """The names that `member` finds, for suggestions."""
    if module.name in ("dspy", _INSIDE_DSPY):
        return ["Signature", "InputField", "OutputField", "Type", *DSPY_TYPES]
    return sorted(_MEMBERS[module.name][1])


def home_of(found: Any) -> tuple[str, str] | None:
    """The module and name under which the table has `found`: `("datetime", "date")`; None for anything else."""
    if not _HOMES:
        for module, (owner, names) in _MEMBERS.items():
            for name in sorted(names):
                # typing's own homes come first; a name that this version of a library lacks is left out.
                if module in _EAGER and hasattr(owner, name):
                    _HOMES.setdefault(id(getattr(owner, name)), (module, name))
    home = _HOMES.get(id(found))
    if home is None and getattr(found, "__module__", "").partition(".")[0] == "pydantic":
        name = getattr(found, "__name__", "")
        if name in _PYDANTIC and getattr(pydantic, name, None) is found:
            return ("pydantic", name)
    return home


_HOMES: dict[int, tuple[str, str]] = {}
_EAGER = frozenset(name for name in _MEMBERS if not name.startswith("pydantic"))


def _dspy_member(module: str, name: str) -> Any:
    if module == "dspy" and name in EXPERIMENTAL:
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


def _bare_table() -> dict[str, tuple[str, str]]:
    table: dict[str, tuple[str, str]] = {}
    for name in (*sorted(_PYDANTIC), *_CODE_OF_PYDANTIC):
        table[name] = ("pydantic", name)
    for module, names in (
        ("enum", "Enum IntEnum StrEnum Flag IntFlag auto unique"),
        ("dataclasses", "dataclass"),
        ("datetime", "date datetime time timedelta timezone"),
        ("decimal", "Decimal"),
        ("fractions", "Fraction"),
        ("uuid", "UUID"),
        ("pathlib", "Path"),
        ("types", "NoneType"),
        ("dspy", " ".join((*DSPY_TYPES, "Signature", "InputField", "OutputField"))),
        (_INSIDE_DSPY, " ".join(EXPERIMENTAL)),
    ):
        for name in names.split():
            table[name] = (module, name)
    for name in typing.__all__:
        table[name] = ("typing", name)
    return table


_BARE: Mapping[str, tuple[str, str]] = MappingProxyType(_bare_table())
_BARE_MODULES: Mapping[str, str] = MappingProxyType(
    {
        "t": "typing",
        "dt": "datetime",
        "typing": "typing",
        "typing_extensions": "typing_extensions",
        "dspy": "dspy",
        "pydantic": "pydantic",
        "annotated_types": "annotated_types",
        **{
            name: name for name in ("collections", "decimal", "fractions", "uuid", "pathlib", "enum", "ipaddress", "re")
        },
        **{name: name for name in ("types", "dataclasses", "textwrap", "inspect")},
    }
)


def bare(name: str, builtin_names: frozenset[str] = SOURCE_BUILTINS) -> Any:
    """What a name means that the text does not define, as if imported. Raises LookupError for any other name."""
    if name in builtin_names:
        return _BUILTINS[name]
    if name in _BARE:
        module, attribute = _BARE[name]
        return member(Module(module), attribute)
    if name in _BARE_MODULES:
        return Module(_BARE_MODULES[name])
    raise LookupError(name)


def bare_names() -> list[str]:
    """The names that `bare` finds as types, for suggestions."""
    return sorted({*STRING_BUILTINS, *_BARE})


def import_of(name: str) -> str:
    """The statement that gives a bare name its meaning; empty for a builtin and for a name without one."""
    if name in _BARE:
        return f"from {_BARE[name][0]} import {name}"
    module = _BARE_MODULES.get(name, "")
    return f"import {module}" + (f" as {name}" if module != name else "") if module else ""


_BUILTINS: Mapping[str, Any] = MappingProxyType(
    {
        one.__name__: one
        for one in (
            *(int, str, float, bool, list, tuple, dict, set, frozenset, complex, bytes, bytearray),
            *(object, type, *FUNCTIONS.values()),
        )
    }
)
