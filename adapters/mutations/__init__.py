"""Catalogue of mutations: good replies damaged as models, servers and gateways do, in stress-grid order."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from adapters.mutations.answers import AROUND, CHARACTERS, FIELDS, NO_WHOLE_ANSWER
from adapters.mutations.mutation import Mutation
from adapters.mutations.slips import JSON_SLIPS, MARKERS, XML_SLIPS
from adapters.mutations.values import VALUES

__all__ = ["CATALOGUE", "Mutation"]

_ALL = (*AROUND, *CHARACTERS, *NO_WHOLE_ANSWER, *FIELDS, *VALUES, *MARKERS, *JSON_SLIPS, *XML_SLIPS)
CATALOGUE: Mapping[str, Mutation] = MappingProxyType({one.name: one for one in _ALL})
