"""Runs a bench in processes that are killed: `python bench_kills.py SESSION KILLS SEED` prints what each had told.

The workbench is loaded once; each process is a fork that begins the bench where the files say it is, tells of every run
that is written, and is killed after some of them, in the middle of whatever it does then.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading

from sessions.file import store
from tests.support.bench_lines import key_of
from workbench.bench.planning import Target, plan
from workbench.bench.running import Bench, Settings

REPEAT = 6


def run_until_the_end(path: str, tell: int, again: bool) -> None:
    """The bench in this process; the key of each run that was written goes to `tell`, a line each."""
    session = store.load(path)
    made = plan([Target(path, session, session.columns, session.cases)], REPEAT, again)

    def watch(run: object, progress: object) -> None:
        os.write(tell, (json.dumps(key_of(run)) + "\n").encode())  # type: ignore[attr-defined]

    Bench(made, Settings(jobs=3), stop=threading.Event(), cancel=threading.Event(), watch=watch).run()


def main() -> None:
    path, kills, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    draw = random.Random(seed)
    killed, again = 0, False
    while killed < kills:
        read, write = os.pipe()
        process = os.fork()
        if process == 0:
            os.close(read)
            code = 1
            try:
                run_until_the_end(path, write, again)
                code = 0
            finally:
                os._exit(code)
        os.close(write)
        again = False
        patience = draw.randint(0, 4)
        with os.fdopen(read, "rb") as told:
            lines = [told.readline() for _ in range(patience)]
            if patience == 0 and draw.random() < 0.5:
                os.kill(process, signal.SIGKILL)  # before it is properly begun
            elif all(lines):
                os.kill(process, signal.SIGKILL)
            lines += told.readlines()
        _, status = os.waitpid(process, 0)
        for line in lines:
            if line.endswith(b"\n"):
                print(line.decode(), end="")
        if os.WIFSIGNALED(status):
            killed += 1
        elif os.WEXITSTATUS(status) == 0:
            again = True  # this series is complete: on with the next
        else:
            sys.exit("a bench failed by itself")
    run_until_the_end(path, os.open(os.devnull, os.O_WRONLY), again=False)


if __name__ == "__main__":
    main()
