"""The part of a capture that runs in the user's program: listens to dspy and writes files of calls.

Programs have their own packages, versions and Python, so this folder is independent: it needs only Python's standard
library (from 3.9 on), imports nothing else of the workbench, and is loaded under a name of its own where the workbench
is not installed (`sitecustomize` in the folder `startup`). Its imports are relative for that reason.

    listening.py     dspy's callbacks: which predictor called, its prompts, replies and parse results
    describing.py    a live signature with its types, as plain data
    plain_values.py  values as plain data
    outlet.py        files of calls, and the child process that makes sessions of them
    attaching.py     listens to an unchanged program
"""
