#!/bin/sh
# Builds the native code with sanitizers and runs the tests under them, in a virtual environment beside the usual one
# whose packages it borrows: `make sanitize` (AddressSanitizer and UndefinedBehaviorSanitizer) and `make sanitize-threads`
# (ThreadSanitizer). Arguments: address or thread; the rest go to pytest.
set -eu
kind=$1
shift
case $kind in
address) flags=address,undefined libraries="libasan.so libubsan.so" ;;
thread) flags=thread libraries=libtsan.so ;;
*) echo "sanitize.sh: address or thread, not $kind" >&2 && exit 2 ;;
esac
home=build/sanitize-$kind
packages=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
if [ ! -x "$home/venv/bin/python" ]; then
    .venv/bin/python -m venv --without-pip "$home/venv"
    own=$("$home/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    echo "$packages" > "$own/borrowed.pth"  # a plain path: the editable install in there stays unseen
fi
PATH="$PWD/.venv/bin:$PATH" "$home/venv/bin/python" -m pip install -q --no-build-isolation --no-deps --ignore-installed \
    -C build-dir="$home/objects" -C cmake.define.WFACLI_SANITIZE="$flags" -C cmake.build-type=RelWithDebInfo \
    -C install.strip=false --editable .
rm -f "$home"/report.*
# What Python itself leaves behind at its end is not ours to report. Reports go to files, past pytest's capture.
export ASAN_OPTIONS="detect_leaks=0:detect_odr_violation=0:log_path=$PWD/$home/report" \
    UBSAN_OPTIONS="print_stacktrace=1:log_path=$PWD/$home/report" \
    TSAN_OPTIONS="log_path=$PWD/$home/report"
export WFACLI_SANITIZE="$flags"  # tests/emulation compiles the kernels with it
preload=""
for library in $libraries; do
    preload="$preload $("${CXX:-g++}" -print-file-name="$library")"
done
status=0
LD_PRELOAD="$preload" "$home/venv/bin/python" -m pytest "$@" || status=$?
for report in "$home"/report.*; do
    [ ! -e "$report" ] || { cat "$report"; status=1; }
done
exit "$status"
