"""`python -m wfacli`."""

from .cli import entry

entry()
