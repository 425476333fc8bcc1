"""Export sessions for other tools, without sending anything; `formats.FORMATS` lists the formats."""
