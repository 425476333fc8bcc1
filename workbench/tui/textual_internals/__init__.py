"""Hold all uses of Textual's private names; try an upgrade of Textual here first.

`tests/workbench/tui/textual_internals/test_private_names.py` lists them, and fails when Textual drops any.
"""
