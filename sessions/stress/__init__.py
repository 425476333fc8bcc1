"""Damage good replies with named mutations and judge each adapter's parser: the survival grid."""
