"""Everything that leans on private names of Textual, behind names of ours. An upgrade of Textual is tried here first.

`tests/workbench/tui/textual_internals/test_private_names.py` names them all, and fails where Textual has one no more.
"""
