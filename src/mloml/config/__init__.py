"""From the config tree and the command line to validated dataclasses."""
