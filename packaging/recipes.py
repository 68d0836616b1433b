"""Write the recipes for Bioconda, conda-forge and Galaxy of a release: version, address and checksum are filled in.

    python packaging/recipes.py --home ADDRESS --url ADDRESS --maintainer NAME [--dist dist] [--into build/recipes]

The version is that of wfacli/__init__.py, and the checksum that of the source distribution in --dist, which must be
what --url serves.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
TEMPLATES = ("bioconda/meta.yaml.in", "conda-forge/recipe.yaml.in", "galaxy/wfacli_map.xml.in")
PLAIN = ("bioconda/build.sh", "conda-forge/build.sh")
_NAME = re.compile(r"@([A-Z][A-Z0-9]+)@")


def version() -> str:
    """Return the version of this checkout."""
    text = (HERE.parent / "wfacli" / "__init__.py").read_text()
    found = re.search(r'^__version__ = "(.+)"$', text, re.MULTILINE)
    if not found:
        raise ValueError("wfacli/__init__.py has no __version__")
    return found[1]


def filled(template: str, values: Mapping[str, str]) -> str:
    """Return a template with each @NAME@ replaced. Raises KeyError for a name that has no value."""
    return _NAME.sub(lambda name: values[name[1]], template)


def write(into: Path, values: Mapping[str, str]) -> list[Path]:
    """Write all recipes into a folder, and return their paths."""
    texts = {name.removesuffix(".in"): filled((HERE / name).read_text(), values) for name in TEMPLATES}
    texts |= {name: (HERE / name).read_text() for name in PLAIN}
    for name, text in texts.items():
        (into / name).parent.mkdir(parents=True, exist_ok=True)
        (into / name).write_text(text)
    return [into / name for name in texts]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--home", required=True, help="address of the project")
    parser.add_argument("--url", required=True, help="address of the source distribution")
    parser.add_argument("--maintainer", required=True, help="account that maintains the conda recipes")
    parser.add_argument("--dist", type=Path, default=HERE.parent / "dist")
    parser.add_argument("--into", type=Path, default=HERE.parent / "build" / "recipes")
    chosen = parser.parse_args()
    source = chosen.dist / f"wfacli-{version()}.tar.gz"
    if not source.exists():
        sys.exit(f"recipes.py: {source} is missing: make wheels")
    values = {
        "VERSION": version(),
        "SHA256": hashlib.sha256(source.read_bytes()).hexdigest(),
        "URL": chosen.url,
        "HOME": chosen.home,
        "MAINTAINER": chosen.maintainer,
    }
    for path in write(chosen.into, values):
        print(path)


if __name__ == "__main__":
    main()
