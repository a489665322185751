"""What checks types and shapes at every call of a checked function: see conftest.py."""

from beartype import BeartypeConf, beartype

checked = beartype(conf=BeartypeConf(is_pep484_tower=True))  # an int is a float
