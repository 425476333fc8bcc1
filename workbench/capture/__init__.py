"""Capture: the calls of a real program as sessions, without getting in its way.

    dspy.configure(callbacks=[Capture("prompts/")])     # as long as the program runs
    with capture("prompts/"):                           # or for a while
        program(question="…")

`in_your_process` is what runs inside the program, and stands alone; `sessions_writer` is the child process that makes
sessions of what it is told. `workbench capture -o prompts/ -- python program.py` needs no change to the program.
"""

from workbench.capture.capturing import Capture, capture

__all__ = ["Capture", "capture"]
