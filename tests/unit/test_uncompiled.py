"""In a folder with the source alone, as a checkout after `pip install .`, messages say why nothing can be imported."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import wfacli

SOURCE = Path(wfacli.__file__).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("checkout")
    shutil.copytree(SOURCE, path / "wfacli", ignore=shutil.ignore_patterns("_native*", "__pycache__"))
    return path


@pytest.mark.parametrize("words", [["-c", "import wfacli; wfacli.align"], ["-m", "wfacli", "align", "a.fa", "b.fa"]])
def test_the_message_names_the_remedy(folder: Path, words: list[str]) -> None:
    packages = str(Path(np.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": packages}  # without site, packages in development are not found
    done = subprocess.run(
        [sys.executable, "-S", *words], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "No module named 'wfacli._native'" in done.stderr
    assert "start Python in another folder" in done.stderr
