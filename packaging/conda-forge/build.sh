#!/bin/bash
set -euo pipefail
# Every kernel for every architecture, with the CUDA compiler of the build environment.
WFACLI_CACHE_DIR="$SRC_DIR/build/kernels" wfacli kernels --into packaging/kernels/wfacli_kernels/cubins
"$PYTHON" -m pip install ./packaging/kernels --no-deps --no-build-isolation --no-cache-dir -vv
