"""Exports of sessions for other tools, a file each; `formats.FORMATS` lists them. They send nothing."""
