"""Write a folder to link in that makes a library run on an older glibc than the one of the build machine.

A linker binds each symbol to the newest version in the C library that it finds. This writes stand-ins for libc, libm,
libpthread and libdl that define each symbol only under its newest version up to the wanted one, as the build machine's
library still has them for old programs; what the old library did not have at all is in shims.c. Nothing of a stand-in
ends up in the result, apart from the names of libraries and versions.

    python stubs.py --cxx g++ --version 2.28 --into DIR    then link with -LDIR
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections import defaultdict
from pathlib import Path

SHIMS = Path(__file__).with_name("shims.c")
# Until 2.34 these were libraries of their own; their names and versions are still there.
_ONCE_APART = {
    ("pthread", 0): re.compile("_?pthread_|sem_"),
    ("dl", 2): re.compile("dl(open|close|sym|vsym|error|addr)"),
}
_ROW = re.compile(
    r"^ *\d+: [0-9a-f]+ +(\w+) +(FUNC|IFUNC|OBJECT) +(?:GLOBAL|WEAK|UNIQUE) +DEFAULT +(?!UND)\w+ +"
    r"(\w+)@@?GLIBC_([\d.]+)\b"
)

Version = tuple[int, ...]


def version_of(text: str) -> Version:
    """Return "2.28" as (2, 28)."""
    return tuple(map(int, text.split(".")))


def newest_up_to(limit: Version, listing: str) -> dict[str, tuple[Version, str, int]]:
    """Return version, type ("object" or "function") and size in bytes of each symbol.

    Args:
        limit: the newest version wanted, inclusive.
        listing: what `readelf --wide --dyn-syms` prints about a library.
    """
    found: dict[str, tuple[Version, str, int]] = {}
    for line in listing.splitlines():
        if row := _ROW.match(line):
            version = version_of(row[4])
            if version <= limit and (row[3] not in found or found[row[3]][0] < version):
                found[row[3]] = version, "object" if row[2] == "OBJECT" else "function", int(row[1], 0)
    return found


def _write(compiler: str, into: Path, soname: str, symbols: dict[str, tuple[Version, str, int]]) -> None:
    """Link a shared library that has these symbols and no code."""
    lines, nodes = [], defaultdict(list)
    for name, (version, kind, size) in sorted(symbols.items()):
        place = ".data" if kind == "object" else ".text"
        lines.append(f"{place}\n.globl {name}\n.type {name}, %{kind}\n.size {name}, {size}\n{name}: .skip 1")
        nodes[version].append(name)
    source, script = into / f"{soname}.s", into / f"{soname}.map"
    source.write_text("\n".join([*lines, '.section .note.GNU-stack,"",%progbits', ""]))
    versions = [f"GLIBC_{'.'.join(map(str, v))} {{ global: {'; '.join(nodes[v])}; }};" for v in sorted(nodes)]
    script.write_text("\n".join([*versions, ""]))
    options = ["-shared", "-nostdlib", "-x", "assembler", f"-Wl,-soname,{soname},--version-script,{script}"]
    subprocess.run([compiler, *options, str(source), "-o", str(into / soname)], check=True)


def _path_of(compiler: str, name: str) -> str:
    path = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout
    if not Path(path.strip()).is_absolute():
        raise SystemExit(f"stubs.py: {compiler} has no {name}; is it GCC, for glibc?")
    return path.strip()


def _listing(compiler: str, library: str) -> str:
    readelf = subprocess.run([compiler, "-print-prog-name=readelf"], capture_output=True, text=True, check=True)
    command = [readelf.stdout.strip() or "readelf", "--wide", "--dyn-syms", _path_of(compiler, library)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def write(compiler: str, limit: Version, into: Path) -> None:
    """Write the folder. Raises CalledProcessError, SystemExit if the compiler's C library is not glibc."""
    into.mkdir(parents=True, exist_ok=True)
    symbols = newest_up_to(limit, _listing(compiler, "libc.so.6"))
    parts = []
    for (name, major), pattern in _ONCE_APART.items():
        own = {symbol: symbols.pop(symbol) for symbol in list(symbols) if pattern.match(symbol)}
        soname = f"lib{name}.so.{major}"
        _write(compiler, into, soname, own)
        (into / f"lib{name}.so").unlink(missing_ok=True)
        (into / f"lib{name}.so").symlink_to(soname)
        parts.append(str(into / soname))
    _write(compiler, into, "libc.so.6", symbols)
    _write(compiler, into, "libm.so.6", newest_up_to(limit, _listing(compiler, "libm.so.6")))
    (into / "libm.so").unlink(missing_ok=True)
    (into / "libm.so").symlink_to("libm.so.6")
    shims = into / "shims.o"
    subprocess.run([compiler, "-x", "c", "-O2", "-fPIC", "-c", str(SHIMS), "-o", str(shims)], check=True)
    archive = into / "libshims.a"
    archive.unlink(missing_ok=True)
    archiver = subprocess.run([compiler, "-print-prog-name=ar"], capture_output=True, text=True, check=True)
    subprocess.run([archiver.stdout.strip() or "ar", "rcsD", str(archive), str(shims)], check=True)
    # The compiler's own libc.so is a linker script, too, which names the loader where it is in a running system.
    named = re.search(r"/(ld-linux[\w.-]+)", Path(_path_of(compiler, "libc.so")).read_text())
    static, own = _path_of(compiler, "libc_nonshared.a"), [*parts, *([_path_of(compiler, named[1])] if named else [])]
    (into / "libc.so").write_text(f"GROUP ( {into / 'libc.so.6'} {static} {archive} AS_NEEDED ( {' '.join(own)} ) )\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cxx", default="g++", help="GCC, which has the C library beside it")
    parser.add_argument("--version", default="2.28", help="the oldest glibc to run on")
    parser.add_argument("--into", type=Path, required=True, help="folder to write")
    chosen = parser.parse_args()
    write(chosen.cxx, version_of(chosen.version), chosen.into.resolve())


if __name__ == "__main__":
    main()
