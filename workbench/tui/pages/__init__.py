"""Pages of text about one column: adapter, request, runs, other parsers, differences. Pure: no Textual app."""
