"""Everything that leans on private names of Textual. An upgrade of Textual is tried here first."""
