"""What should surprise a person about a reading: each flag with its name and a sentence that explains it.

Flags are found from the reading alone, when they are asked for; `adapters.replies.flags.glossary` says what each
name means.
"""

from adapters.replies.flags.explaining import explain
from adapters.replies.flags.flag import Flag
from adapters.replies.flags.glossary import FLAGS

__all__ = ["FLAGS", "Flag", "explain"]
