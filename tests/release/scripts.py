"""Loads the scripts of packaging/, which is no Python package: its name is that of a module on PyPI."""

from __future__ import annotations

import importlib.util
from types import ModuleType

from tests.docs.pages import ROOT


def load(name: str) -> ModuleType:
    """Return packaging/NAME.py as a module."""
    spec = importlib.util.spec_from_file_location(name.replace("/", "_"), ROOT / "packaging" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
