#!/bin/bash
set -euo pipefail
# The baseline is x86-64-v2; newer instruction sets are chosen at run time.
"$PYTHON" -m pip install . --no-deps --no-build-isolation --no-cache-dir -vv
