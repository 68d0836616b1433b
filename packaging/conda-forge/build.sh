#!/bin/bash
set -euo pipefail
# Every kernel for every architecture, with the CUDA compiler of the build environment.
"$PYTHON" packaging/kernels.py --into dist
"$PYTHON" -m pip install dist/wfacli_kernels-*.whl --no-deps --no-index -vv
