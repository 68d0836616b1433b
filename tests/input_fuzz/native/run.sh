#!/bin/sh
# Fuzzes the native parsers with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer: `make fuzz-native`. Each target
# parses the same bytes as one block and in pieces, and checks that both give the same answer.
#   run.sh [--seconds N] [--replay] [TARGET...]
# --seconds: how long each target runs (default 60). --replay: the targets with a main() of their own, which only runs the
# seeds, by $CXX (default g++), which needs no libFuzzer. TARGET: some of the targets (default: all).
# What is found is a file in build/fuzz-native/found; the corpora stay in build/fuzz-native/corpus for the next run.
set -eu
cd "$(dirname "$0")/../../.."
here=tests/input_fuzz/native home=${FUZZ_HOME:-build/fuzz-native}
compiler=${FUZZ_CXX:-clang++} kind=fuzz seconds=60
while [ $# -gt 0 ]; do
    case $1 in
    --seconds) seconds=$2 && shift 2 ;;
    --replay) compiler=${CXX:-g++} kind=replay && shift ;;
    -*) echo "run.sh: no option $1" >&2 && exit 2 ;;
    *) break ;;
    esac
done
[ $# -gt 0 ] || set -- $(cd $here && ls -- *.cpp | sed -n '/^standalone/d; s/\.cpp$//p')
objects=$home/$kind
mkdir -p "$objects" "$home/found" "$home/corpus"
flags="-std=c++20 -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=all -I$here -Iwfacli/native"
if [ $kind = fuzz ]; then
    checks=-fsanitize=fuzzer,address,undefined
    echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' > "$objects/try.cpp"
    if ! "$compiler" $checks "$objects/try.cpp" -o "$objects/try" 2> "$objects/try.txt"; then
        echo "run.sh: '$compiler' has no libFuzzer ($(head -n 1 "$objects/try.txt")); FUZZ_CXX names a clang++ that has" >&2
        exit 2
    fi
    compile=-fsanitize=fuzzer-no-link,address,undefined
else
    checks=-fsanitize=address,undefined compile=-fsanitize=address,undefined
fi

# object SOURCE: compiles it, unless it is there and newer than all sources; its name.
object() {
    made=$objects/$(echo "$1" | tr / -).o
    if [ ! -e "$made" ] || [ -n "$(find wfacli/native $here -name '*.[ch]pp' -newer "$made")" ]; then
        "$compiler" $flags $compile -c "$1" -o "$made"
    fi
    echo "$made"
}

for target in "$@"; do
    [ -e "$here/$target.cpp" ] || { echo "run.sh: no target $target" >&2; exit 2; }
    parts=$(object "$here/$target.cpp")
    for source in $(sed -n 's,^// Needs: ,,p' "$here/$target.cpp"); do
        part=$(object "wfacli/native/$source.cpp")
        parts="$parts $part"
    done
    [ $kind = fuzz ] || parts="$parts $(object $here/standalone.cpp)"
    "$compiler" $flags $checks $parts -o "$objects/$target"
done
"${PYTHON:-.venv/bin/python}" -m tests.input_fuzz.native.seeds "$home/seeds"
export UBSAN_OPTIONS="print_stacktrace=1"
status=0
for target in "$@"; do
    if [ $kind = replay ]; then
        "$objects/$target" "$home/seeds/$target"/* || status=1
        continue
    fi
    mkdir -p "$home/corpus/$target"
    echo "== $target"
    "$objects/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 \
        -dict=$here/words.dict -artifact_prefix="$home/found/$target-" "$home/corpus/$target" "$home/seeds/$target" || status=1
done
exit "$status"
