"""A child process that searches regular expressions, so that one that never ends can be stopped.

Run as a script: reads `{"pattern", "text"}` a line, answers `{"found"}` or `{"error"}` a line. Knows nothing else.
"""

from __future__ import annotations

import json
import re
import sys


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer: dict[str, object] = {"found": re.search(asked["pattern"], asked["text"]) is not None}
        except (re.error, RecursionError, OverflowError, MemoryError) as error:
            answer = {"error": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
