"""Run as `python -P -m workbench.tui.keys.keymap_child`: a keymap as JSON in; its mistakes and every key as JSON out.

A program of its own because it imports every screen, and no command but the app imports textual.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from workbench.tui.keys import keymap


def keys(own: Mapping[str, str]) -> list[dict[str, Any]]:
    """Every key binding with an id, once, as the user's keymap has it: `{"id", "keys", "about", "group"}`."""
    found: dict[str, dict[str, Any]] = {}
    for _, one in keymap.every_binding():
        if one.id and one.id not in found:
            group = one.group.description if one.group is not None else ""
            about = one.tooltip or one.description
            found[one.id] = {"id": one.id, "keys": own.get(one.id, one.key), "about": about, "group": group}
        elif one.id and one.id not in own and one.key not in found[one.id]["keys"].split(","):
            found[one.id]["keys"] += f",{one.key}"
    return list(found.values())


if __name__ == "__main__":
    own = json.load(sys.stdin)
    sys.stdout.write(json.dumps({"problems": keymap.problems(own), "keys": keys(own)}))
