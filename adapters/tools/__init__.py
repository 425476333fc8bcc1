"""Tool turns: calls by the model, results, and the continued conversation.

The rules are those of weakincentives' conversation runner, with an exception: a call that cannot be made (unknown tool,
bad JSON) is a failed result for the model and does not end the run.
"""
