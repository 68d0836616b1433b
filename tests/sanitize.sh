#!/bin/sh
# Builds the native code with AddressSanitizer and UndefinedBehaviorSanitizer and runs the tests under them, in a
# virtual environment beside the usual one whose packages it borrows: `make sanitize`. Arguments go to pytest.
set -eu
home=build/sanitize
packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
if [ ! -x "$home/venv/bin/python" ]; then
    .venv/bin/python -m venv --without-pip "$home/venv"
    own=$("$home/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    echo "$packages" > "$own/borrowed.pth"  # a plain path: the editable install in there stays unseen
fi
PATH="$PWD/.venv/bin:$PATH" "$home/venv/bin/python" -m pip install -q --no-build-isolation --no-deps --ignore-installed \
    -C build-dir="$home/objects" -C cmake.define.WFACLI_SANITIZE=ON -C cmake.build-type=RelWithDebInfo \
    -C install.strip=false --editable .
rm -f "$home"/report.*
# What Python itself leaves behind at its end is not ours to report. Reports go to files, past pytest's capture.
export ASAN_OPTIONS="detect_leaks=0:log_path=$PWD/$home/report" \
    UBSAN_OPTIONS="print_stacktrace=1:log_path=$PWD/$home/report"
status=0
LD_PRELOAD="$("${CXX:-g++}" -print-file-name=libasan.so) $("${CXX:-g++}" -print-file-name=libubsan.so)" \
    "$home/venv/bin/python" -m pytest "$@" || status=$?
for report in "$home"/report.*; do
    [ ! -e "$report" ] || { cat "$report"; status=1; }
done
exit "$status"
