# make demo   align the example in data/        make test   everything that CI runs
PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: build demo test test-newest test-gpu test-cluster test-dask sanitize-gpu kernels check lint type fmt sanitize sanitize-threads fuzz fuzz-input fuzz-native fuzz-kill bench bench-check bench-cpu bench-everything bench-tables bench-gpu bench-gpus bench-band bench-distance bench-distance-scale bench-local bench-local-gpu bench-sw cross golden docs man pictures wheel wheels kernels-wheel release-check clean
build: .venv/built

.venv/created:
	@$(PYTHON) -c 'import sys; sys.exit("wfacli needs Python 3.11 or newer (make PYTHON=...)" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q "scikit-build-core>=1.0,<2" "nanobind>=3.0,<4" cmake ninja && touch $@

# Kernels of the newest instruction set that this machine has. The packages are installed beside the compiler.
.venv/built: .venv/created pyproject.toml CMakeLists.txt $(wildcard wfacli/native/*)
	@$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["dependencies"], sep="\n")' > .venv/requirements.txt
	$(BIN)/pip install -q -r .venv/requirements.txt & \
	$(BIN)/pip install -q --no-build-isolation --no-deps --config-settings=cmake.define.WFACLI_KERNELS=native --editable . && wait $$! && touch $@

# Tests compare the kernels of all instruction sets that the machine has.
.venv/dev: .venv/built tests/requirements.txt
	$(BIN)/pip install -q --no-build-isolation --config-settings=cmake.define.WFACLI_KERNELS=all --editable .
	$(BIN)/pip install -q -r tests/requirements.txt && touch $@

demo: build
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh data/demo.sh

test: lint type check

check: .venv/dev
	$(BIN)/python -m pytest -n auto

# The tests with the newest release of each package, whatever its upper bound in pyproject.toml; what cannot be installed is
# left at the version that is there, and said.
test-newest: .venv/dev
	$(BIN)/python tests/newest.py
	$(BIN)/python -m pytest -n auto

lint: .venv/dev
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/python docs/style.py

type: .venv/dev
	$(BIN)/mypy

fmt: .venv/dev
	$(BIN)/ruff check --fix-only . && $(BIN)/ruff format .

# The native code under AddressSanitizer and UndefinedBehaviorSanitizer, for every instruction set that the machine has,
# in a virtual environment of its own; and the GPU's kernels on the host. Left out are the oracle's own tests and nvcc.
# A report ends the process that ran the test: another takes its place, as often as it must, so that all tests are run.
sanitize: .venv/dev
	sh tests/sanitize.sh address -n auto --max-worker-restart 10000 --ignore tests/engines/test_oracle.py --ignore tests/gpu_host/test_rows.py tests/cli/test_forged_checkpoints.py

# The same under ThreadSanitizer, for the tests that use threads.
sanitize-threads: .venv/dev
	sh tests/sanitize.sh thread tests/engines/test_threads.py tests/unit/test_pipeline.py tests/unit/test_api_batch.py tests/unit/test_read_ahead.py tests/mapped/test_threads.py tests/mapped/test_index.py

# What needs an NVIDIA GPU; on a machine that has one, being skipped for want of it is a failure. Where PyCUDA opens GPUs,
# all again through ctypes, which takes its place elsewhere.
test-gpu: .venv/dev
	$(BIN)/python -m pytest -m gpu tests
	$(BIN)/python -c "import pycuda.driver" 2>/dev/null || exit 0; WFACLI_CUDA_DRIVER=ctypes $(BIN)/python -m pytest -m gpu tests

# workflows/slurm and Snakemake's SLURM executor on a SLURM of one node, which is started for it and ended after it: one
# shard killed, one part damaged, and the bytes of one machine. Needs SLURM and MUNGE (apt-get install slurm-wlm munge).
test-cluster: .venv/dev build/snakemake/installed
	$(BIN)/python -m tests.slurm --snakemake build/snakemake/bin/snakemake

build/snakemake/installed: tests/slurm/requirements.txt
	@for name in slurmctld slurmd munged; do PATH="$$PATH:/usr/sbin:/sbin" command -v $$name >/dev/null || { \
		echo "make test-cluster: $$name not found: it needs SLURM and MUNGE (apt-get install slurm-wlm munge)" >&2; exit 2; }; done
	$(PYTHON) -m venv build/snakemake && build/snakemake/bin/pip install -q -r tests/slurm/requirements.txt && touch $@

# Runs on a Dask cluster, and in an S3 store on a test server at the loopback interface.
test-dask: .venv/dask
	WFACLI_TEST_DASK=1 $(BIN)/python -m pytest --durations=5 tests/cluster tests/remote

.venv/dask: .venv/dev tests/requirements-dask.txt
	$(BIN)/pip install -q -r tests/requirements-dask.txt && touch $@

# The part of it that runs every kernel under NVIDIA's compute-sanitizer.
sanitize-gpu: .venv/dev
	$(BIN)/python -m pytest -m gpu tests/gpu_device/test_sanitizer.py

# All GPU kernels for all architectures, into build/cubins, whence make wheel takes them; shows what they use, and
# fails where one leaves its registers that should not.
kernels: .venv/built
	rm -rf build/cubins && WFACLI_CACHE_DIR=build/kernels $(BIN)/wfacli kernels --into build/cubins

# Longer random tests than make test has time for: the whole option space for an hour or more, beside the oracle in C++
# (make fuzz SPACE="--seconds 3600 --seed 1 --log bench/results"), then the tests with more pairs each.
SPACE ?= --seconds 3600 --jobs 2 --seed 1 --log build/fuzz-space.json
fuzz: .venv/dev
	$(BIN)/python -m tests.space $(SPACE)
	WFACLI_FUZZ=$${WFACLI_FUZZ:-105} $(BIN)/python -m pytest -n auto tests/engines tests/distance tests/gpu_engine tests/emulation tests/gpu_host/test_rows.py tests/cli/test_forged_checkpoints.py

# Damaged files of all kinds through the whole command, judged by rule (tests/input_fuzz), and good runs killed at random
# moments; options as in make fuzz-input FUZZ="--seconds 3600 --jobs 8 --seed 1". Findings become tests of their own.
fuzz-input: .venv/dev
	$(BIN)/python -m tests.input_fuzz --jobs 2 $(FUZZ)

# The native parsers under libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, one minute each; options as in
# make fuzz-native FUZZ="--seconds 600 records pairs". Needs clang++ (FUZZ_CXX=clang++-16 where it is called so).
fuzz-native: .venv/dev
	sh tests/input_fuzz/native/run.sh $(FUZZ)

fuzz-kill: .venv/dev
	$(BIN)/python -m tests.input_fuzz --kill --jobs 2 $(FUZZ)
	$(BIN)/python -m tests.input_fuzz --interrupt --jobs 2 $(FUZZ)

bench: .venv/dev
	$(BIN)/python -m bench.tables.whole_command && $(BIN)/python -m bench.tables.peak_memory

# Instructions of the native core, and instructions and registers of the GPU's kernels: fails where one has risen by 5%
# over bench/checks/baseline.json; make bench-check BENCH=--update makes a new one. Needs valgrind, nvcc; skips what is missing.
bench-check: .venv/dev
	$(BIN)/python -m bench.checks.check $(BENCH)

# Our CPU engine and its peers, one thread; options as in make bench-cpu BENCH="--quick --data DIR".
bench-cpu: .venv/built
	$(BIN)/pip install -q -r bench/requirements.txt && $(BIN)/python -m bench.tables.cpu_table $(BENCH)

# Our engine on a GPU and what peers you have built, as in make bench-gpu BENCH="--wfa-gpu PATH --data DIR".
bench-gpu: .venv/built
	$(BIN)/python -m bench.tables.gpu_table $(BENCH)

# What --band and --score-only save on a GPU, and how many scores a band finds; options as in BENCH="--data DIR".
bench-band: .venv/built
	$(BIN)/python -m bench.tables.band_table $(BENCH)

# One GPU beside several that are there, the engine alone and the whole command; options as in BENCH="--data DIR".
bench-gpus: .venv/built
	$(BIN)/python -m bench.tables.several_gpus $(BENCH)

# The distance of one long pair: ours, on a GPU where there is one, edlib and what peers you have built, as in
# make bench-distance BENCH="--wfa2 PATH --quicked PATH --data DIR".
bench-distance: .venv/built
	$(BIN)/pip install -q "edlib>=1.3.9" && $(BIN)/python -m bench.tables.distance_table $(BENCH)

# How the distance of one pair scales, on a GPU where there is one: random and simulated pairs by both algorithms, which
# must agree; results as JSON and PNG, options as in make bench-distance-scale BENCH="--minutes 10".
bench-distance-scale: .venv/dev
	$(BIN)/python -m bench.tables.distance_scale $(BENCH)

# The best local alignment of one long pair beside parasail's best; options as in make bench-local BENCH="--data DIR".
bench-local: .venv/dev
	$(BIN)/python -m bench.tables.local_table $(BENCH)

# The same on a GPU, beside MASA-CUDAlign: make bench-local-gpu BENCH="--data DIR --masa cudalign --plot local.png".
bench-local-gpu: .venv/dev
	$(BIN)/python -m bench.tables.local_gpu $(BENCH)

# Batches of Smith-Waterman alignments on a GPU, and GASAL2's programs that you have built:
# make bench-sw BENCH="--gasal2 192:PATH 1152:PATH --data DIR --save"
bench-sw: .venv/dev
	$(BIN)/python -m bench.tables.sw_table $(BENCH)

# The whole comparison that this machine can make, beside the peers that are in a folder, and docs' pages of it:
# make bench-everything BENCH="--peers DIR --data DIR --minutes M"; BENCH=--list shows the peers, BENCH=--dry-run the
# commands. A package that cannot be installed leaves only its peer out.
bench-everything: .venv/dev
	-$(BIN)/pip install -q -r bench/requirements.txt
	-for peer in $$(sed '/^#/d' bench/peers/requirements.txt); do $(BIN)/pip install -q "$$peer"; done
	$(BIN)/python -m bench.tables.everything $(BENCH)

# Only what the papers' tables (docs/papers.md) lack, and the page; options as in bench-everything.
bench-tables: .venv/dev
	-$(BIN)/pip install -q -r bench/requirements.txt
	-for peer in $$(sed '/^#/d' bench/peers/requirements.txt); do $(BIN)/pip install -q "$$peer"; done
	$(BIN)/python -m bench.tables.everything --tables $(BENCH)

# Compiles the native code (without its bindings) for aarch64; needs a cross compiler.
CROSS_CXX ?= aarch64-linux-gnu-g++
CROSS_SOURCES := $(filter-out wfacli/native/bind/%,$(shell find wfacli/native -name '*.cpp'))
cross:
	for f in $(CROSS_SOURCES); do $(CROSS_CXX) -std=c++20 -O2 -Wall -Wextra -Werror -Iwfacli/native -DWFACLI_ISA=baseline -c $$f -o /dev/null || exit 1; done

golden: .venv/dev
	$(BIN)/python -m tests.cli.golden_cases && $(BIN)/python -m tests.cli.golden_extend_cases && $(BIN)/python -m pytest tests/cli/test_golden.py tests/cli/test_golden_truth.py tests/cli/test_extend.py

# The documentation as a site in site/, which can be read from the disk; benchmarks are made of bench/results.
docs: .venv/built
	$(BIN)/pip install -q -r docs/requirements.txt -r bench/requirements.txt
	$(BIN)/python -m bench.pages.page && $(BIN)/python -m bench.pages.papers_page && $(BIN)/python -m bench.pages.speed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# The manual, from the same source as --help-all: man -l build/man/wfacli-align.1
man: .venv/built
	$(BIN)/python docs/man.py build/man

# The pictures of docs/pictures; needs minimap2, Chromium and MultiQC (WFACLI_CHROMIUM, WFACLI_MULTIQC).
pictures: .venv/dev
	$(BIN)/python docs/pictures.py

wheel: .venv/created
	$(BIN)/pip wheel -q --no-deps --wheel-dir dist .

# The source distribution and wheels for old distributions (glibc 2.28), by each of Python 3.11 and 3.12 that is there;
# auditwheel must agree. WHEELS=--check builds all twice and compares the bytes.
wheels: .venv/wheels
	$(BIN)/python packaging/wheels.py $(WHEELS)

# The package wfacli-kernels: all GPU kernels for all architectures, compiled (needs nvcc, and an hour on two cores).
kernels-wheel: .venv/built
	WFACLI_CACHE_DIR=build/kernels $(BIN)/python packaging/kernels.py

# All that a release needs (CONTRIBUTING.md): wheels built twice with the same bytes, installed without a compiler, the first
# example and the demonstration run there, docs' commands and links, licences and SBOM of what is shipped.
release-check: .venv/dev .venv/wheels
	$(BIN)/python packaging/wheels.py --check $(WHEELS)
	$(BIN)/python -m tests.release.shipped
	$(BIN)/python -m tests.release.installed --demo
	$(BIN)/python -m pytest -n auto tests/release tests/docs

.venv/wheels: .venv/created packaging/requirements.txt
	$(BIN)/pip install -q -r packaging/requirements.txt && touch $@

clean:
	rm -rf build bench/peers/build dist out .venv
