"""All uses of Textual's private names; when upgrading Textual, check this package first.

`tests/workbench/tui/textual_internals/test_private_names.py` lists them and fails when Textual drops any.
"""
