"""What should surprise a person about a reading: each flag with its name and a sentence that explains it.

Flags are found from the reading alone, when they are asked for; `adapters.flags.glossary` says what each name means.
"""

from adapters.flags.explaining import explain
from adapters.flags.flag import Flag
from adapters.flags.glossary import FLAGS

__all__ = ["FLAGS", "Flag", "explain"]
