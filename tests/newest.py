"""Install the newest release of each package in pyproject.toml, ignoring upper bounds (`make test-newest`)."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
_NOT_HERE = {"pycuda"}  # requires a CUDA toolkit to compile


def requirements() -> list[str]:
    """Return the requirements of the package and all its extras, as written in pyproject.toml."""
    project = tomllib.loads(PROJECT.read_text())["project"]
    return [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]


def without_upper_bound(requirement: str) -> str:
    """Return the requirement without `<`, `<=`, `==` and `~=` bounds."""
    wanted, _, marker = requirement.partition(";")
    name, bounds = re.fullmatch(r"([\w.-]+)(.*)", wanted.strip()).groups()  # type: ignore[union-attr]
    kept = [bound for bound in bounds.split(",") if bound.strip().startswith((">", "!"))]
    return name + ",".join(kept) + (f"; {marker.strip()}" if marker else "")


def main() -> None:
    for requirement in map(without_upper_bound, requirements()):
        if re.split(r"[<>=!~;]", requirement)[0] in _NOT_HERE:
            continue
        done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--upgrade", requirement], check=False)
        if done.returncode:
            print(f"{requirement} cannot be installed")
    subprocess.run([sys.executable, "-m", "pip", "list"], check=True)


if __name__ == "__main__":
    main()
