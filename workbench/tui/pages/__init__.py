"""The text of the pages of F7, the review and the stress test, made without a Textual app."""
