"""Good replies broken on purpose, by name, and what each adapter's parser makes of them: the survival grid."""
