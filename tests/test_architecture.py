"""Import order of the modules, and restrictions on single modules, checked by parsing their source."""

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

import wfacli

PACKAGE = Path(wfacli.__file__).parent
# A room is a folder or a top-level module. A module imports only from its own room and from rooms in earlier rows.
ROOMS = """
    errors
    config
    core _native
    scoring io.read report
    io.write
    io.mapper
    gpu.kernels
    gpu.compile plan
    gpu.runtime
    solve.base
    solve.facts solve.watchers
    solve.checkpoint
    solve.gpu solve.saving
    engines
    run dotplot
    simulate shards
    cluster
    solve.distance
    solve.local measure
    results
    api
    cli
"""
ROWS = [set(row.split()) for row in ROOMS.strip().splitlines()]
MODULES = {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in sorted(PACKAGE.rglob("*.py"))}
DOORS = {"__init__", "__main__"}  # they only re-export
MOST_LOOSE = 5
MOST_LINES = 400
MOST_FILES = 25
KERNELS = (".cu", ".cuh", ".hpp")


def room_of(module):
    """Return the room of a module, and the index of its row in ROWS."""
    for number, rooms in enumerate(ROWS):
        for room in rooms:
            if module == room or module.startswith(f"{room}."):
                return room, number
    raise AssertionError(f"{module} is in no room: give its folder a place in ROOMS")


def is_door(module):
    return module.split(".")[-1] in DOORS


def imports(module):
    """Yield absolute names of all modules that a module imports, including lazy and type-checking imports."""
    tree = ast.parse(MODULES[module].read_text())
    package = ["wfacli", *module.split(".")[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            yield origin
            yield from (f"{origin}.{alias.name}" for alias in node.names)


def own_imports(module):
    """Yield the wfacli modules that a module imports, without the package name."""
    for name in imports(module):
        inner = name.removeprefix("wfacli.")
        if name.startswith("wfacli.") and (inner in MODULES or inner == "_native"):
            yield inner


def calls(module):
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


@pytest.mark.parametrize("module", [m for m in sorted(MODULES) if not is_door(m)])
def test_modules_import_only_from_earlier_rooms(module):
    room, row = room_of(module)
    for other in own_imports(module):
        if is_door(other):
            continue
        from_room, from_row = room_of(other)
        assert from_room == room or from_row < row, f"{module} imports {other}"


def test_no_modules_import_each_other_in_a_circle():
    before = {m: {o for o in own_imports(m) if o in MODULES and not is_door(o)} for m in MODULES if not is_door(m)}
    assert list(graphlib.TopologicalSorter(before).static_order())  # CycleError names the cycle


def test_few_modules_are_loose():
    assert len([m for m in MODULES if "." not in m and m != "__init__"]) <= MOST_LOOSE


def test_imports_are_seen():
    assert {"core.batch", "_native", "core.route"} <= set(own_imports("engines.cpu"))
    assert "numpy" in set(imports("core.batch"))
    assert "api" in set(own_imports("__init__"))


@pytest.mark.parametrize("module", MODULES)
def test_pycuda_only_under_gpu(module):
    uses = any(name.split(".")[0] == "pycuda" for name in imports(module))
    assert not uses or module.startswith("gpu.")


def test_pycuda_is_imported_only_when_a_gpu_is_opened():
    modules = sorted(m for m in MODULES if m.startswith("gpu.") and not m.endswith("__init__"))
    code = f"import sys, {', '.join('wfacli.' + m for m in modules)}; print([m for m in sys.modules if 'pycuda' in m])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.parametrize("module", [m for m in MODULES if not m.startswith("cli.")])
def test_only_the_command_line_prints_and_exits(module):
    forbidden = {"print", "exit", "quit", "sys.exit", "os._exit", "sys.stderr.write", "sys.stdout.write"}
    assert not forbidden & set(calls(module))
    assert not {"rich", "typer"} & {name.split(".")[0] for name in imports(module)}


def test_files_are_short():
    # The stub of the extension module mirrors it as a whole, so that it cannot be split.
    files = [p for p in PACKAGE.rglob("*") if p.suffix in (".py", ".cpp", ".hpp", ".cu", ".cuh")]
    files += Path(__file__).parent.rglob("*.py")
    files += [p for folder in ("cuda", "tests") for p in (PACKAGE.parent / folder).rglob("*") if p.suffix in KERNELS]
    assert len(files) > 40
    long = {str(p): n for p in files if (n := len(p.read_text().splitlines())) > MOST_LINES}
    assert not long


@pytest.mark.parametrize("root", ["wfacli/native", "cuda"])
def test_folders_of_kernels_and_native_code_are_small(root):
    folders = [p for p in (PACKAGE.parent / root).rglob("*") if p.is_dir()]
    assert len(folders) > 5
    large = {str(p): n for p in folders if (n := sum(f.is_file() for f in p.iterdir())) > MOST_FILES}
    assert not large
