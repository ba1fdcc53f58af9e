"""Fixtures of the casters' tests serve here too."""
