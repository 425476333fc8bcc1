"""The pages of F7, review and bench as text. Pure: no Textual app."""
