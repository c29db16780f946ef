"""Tests of the package. They need the program, see scripts/python-test."""
