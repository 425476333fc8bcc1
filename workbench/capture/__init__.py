"""Capture the calls of a real program as sessions, without getting in its way.

    dspy.configure(callbacks=[Capture("prompts/")])     # as long as the program runs
    with capture("prompts/"):                           # or for a while
        program(question="…")

`in_your_process` runs inside the program and is independent of the other packages; `sessions_writer` is the child
process that makes sessions of the calls. `workbench capture -o prompts/ -- python program.py` works without changes to
the program.
"""

from workbench.capture.capturing import Capture, capture

__all__ = ["Capture", "capture"]
