"""Sessions in the forms of other tools, one file a form; `formats.FORMATS` lists them. Nothing here calls anything."""
