"""The order of the modules, and what only some of them may do, read from their source."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import wfacli

PACKAGE = Path(wfacli.__file__).parent
# A module imports only from stages before its own; within one package, modules may import each other.
STAGES = [
    {"errors"},
    {"config"},
    {"batch", "costs"},
    {"scoring"},
    {"_native"},
    {"cigar", "stats", "cores", "tuning"},
    {
        "gpu.catalogue",
        "gpu.layout",
        "gpu.dp",
        "gpu.sw",
        "gpu.tiles",
        "gpu.wfa",
        "gpu.local",
        "gpu.long_bits",
        "gpu.long_path",
        "gpu.long_wavefront",
        "gpu.plans",
        "gpu.rungs",
    },
    {"forecast", "io"},
    {"offers"},
    {"jobs"},
    {"dispatch"},
    {"estimate", "reasons"},
    {"retry"},
    {"gpu"},
    {
        "distance.solver",
        "distance.gpu_bits",
        "distance.gpu_fronts",
        "distance.gpu_letters",
        "distance.gpu_path",
        "distance.gpu_path_fronts",
        "distance.gpu_path_stripes",
        "distance.gpu_segments",
        "distance.gpu_wavefront",
    },
    {"engines.base", "engines.parts", "engines.threads", "engines.long"},
    {"engines.cpu", "engines.gpu", "engines.both", "engines.extend", "engines.extend_auto", "engines.extend_gpu"},
    {"engines.several", "engines.trial"},
    {"engines.choice", "engines.rescue", "engines.single"},
    {"pipeline", "early"},
    {"run"},
    {"dotplot", "run_extend", "run_mapped", "simulate"},
    {"measure"},
    {"distance"},
    {"local"},
    {"results"},
    {"api"},
    {"cli"},
]
MODULES = {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in sorted(PACKAGE.rglob("*.py"))}
FREE = {"__init__", "__main__", "engines.__init__"}  # doors: they only hand on
MOST_LINES = 450
KERNELS = (".cu", ".cuh", ".hpp")


def stage(module):
    for number, names in enumerate(STAGES):
        if module in names or module.split(".")[0] in names:
            return number
    raise AssertionError(f"{module} has no place in the order of modules; give it one")


def imports(module):
    """Absolute names of all modules that a module imports, lazily or for types too."""
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
    """Modules of wfacli that a module imports, without the package's name."""
    for name in imports(module):
        inner = name.removeprefix("wfacli.")
        if name.startswith("wfacli.") and (inner in MODULES or inner == "_native"):
            yield inner


def calls(module):
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)


@pytest.mark.parametrize("module", sorted(MODULES.keys() - FREE))
def test_modules_import_only_what_comes_before_them(module):
    for other in own_imports(module):
        same_package = "." in module and module.split(".")[0] == other.split(".")[0] != "engines"
        assert same_package or stage(other) < stage(module), f"{module} imports {other}"


def test_imports_are_seen():
    assert {"batch", "_native", "dispatch"} <= set(own_imports("engines.cpu"))
    assert "numpy" in set(imports("batch"))
    assert "api" in set(own_imports("__init__"))


@pytest.mark.parametrize("module", MODULES)
def test_pycuda_only_under_gpu(module):
    uses = any(name.split(".")[0] == "pycuda" for name in imports(module))
    assert not uses or module.startswith("gpu.")


def test_pycuda_is_imported_only_when_a_card_is_opened():
    modules = sorted(m for m in MODULES if m.startswith("gpu.") and not m.endswith("__init__"))
    code = f"import sys, {', '.join('wfacli.' + m for m in modules)}; print([m for m in sys.modules if 'pycuda' in m])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.parametrize("module", [m for m in MODULES if not m.startswith("cli.")])
def test_only_the_command_line_prints_and_exits(module):
    forbidden = {"print", "exit", "quit", "sys.exit", "os._exit", "sys.stderr.write", "sys.stdout.write"}
    assert not forbidden & set(calls(module))
    assert not {"rich", "typer"} & {name.split(".")[0] for name in imports(module)}


def test_files_are_short():
    files = [p for p in PACKAGE.rglob("*") if p.suffix in (".py", ".pyi", ".cpp", ".hpp", ".cu", ".cuh")]
    files += Path(__file__).parent.rglob("*.py")
    files += [p for folder in ("cuda", "tests") for p in (PACKAGE.parent / folder).rglob("*") if p.suffix in KERNELS]
    assert len(files) > 40
    long = {str(p): n for p in files if (n := len(p.read_text().splitlines())) > MOST_LINES}
    assert not long
