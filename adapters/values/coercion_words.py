"""The coercion rules of `adapters.values.coercion.RULES` in words for a person."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

RULE_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "str": "written as text by str()",
        "enum_by_value": "the enum member with this value",
        "enum_by_name": "the enum member of this name",
        "literal_member": "one of the allowed values",
        "strip": "white space at both ends removed",
        "unwrap": "taken out of Literal[…] or str[…]",
        "unquote": "one pair of quotes removed",
        "json": "read as JSON",
        "json_repair": "repaired as JSON by json_repair",
        "literal_eval": "read as a Python literal",
        "pydantic": "validated and converted by pydantic",
        "pydantic_by_name": "validated by pydantic with field names instead of aliases",
        "join_lines": "every kind of line break made \\n",
        "join_marker_line": "the rest of the marker's line and the lines below it joined",
        "threshold": "decided: true where its probability reaches the threshold",
        "cuts": "decided: the mean of the levels, which the cuts sort into one",
        "weights": "decided: the option of the greatest probability times weight",
        "default": "filled in: the reply had nothing",
        "xml": "read as XML, guided by the field's JSON schema",
        "json_fence": "the first block fenced as ```json",
        "first_json": "the first JSON value in the text",
        "first_object": "the first {…} in the text, strings not respected",
    }
)
"""Each rule in words for a person."""
