"""The version of the package and of the interface to the program."""

__version__ = "0.1.0"

#: The ``protocol`` of ``heatwalk version --json`` that this package uses.
PROTOCOL = 4
