"""Every mutation there is, in the order of the grid."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sessions.stress.mutation import Mutation
from sessions.stress.mutations.around import AROUND, CHARACTERS, NO_WHOLE_ANSWER
from sessions.stress.mutations.fields import FIELDS
from sessions.stress.mutations.json_slips import JSON_SLIPS
from sessions.stress.mutations.markers import MARKERS
from sessions.stress.mutations.values import VALUES
from sessions.stress.mutations.xml_slips import XML_SLIPS

CATALOGUE: Mapping[str, Mutation] = MappingProxyType(
    {
        one.name: one
        for one in (
            *(*AROUND, *CHARACTERS, *NO_WHOLE_ANSWER, *FIELDS),
            *(*VALUES, *MARKERS, *JSON_SLIPS, *XML_SLIPS),
        )
    }
)
