#!/usr/bin/env bash
# Rung 3: builds the package with the Metal engine on its stand-in and runs the tests on device mps.
# Usage: run_stand_in.sh [sanitizers] [pytest arguments], for example run_stand_in.sh address,undefined tests/metal
# STAND_IN_DIRECTORY keeps one virtual environment, for the build that ran last, and one build tree per sanitizer.
# With COVERAGE set the engine counts its lines: line_coverage.py runs this so, and reports.
set -euo pipefail
cd "$(dirname "$0")/../.."

sanitizers=""
if [[ "${1:-}" =~ ^(address|thread|undefined)(,(address|thread|undefined))*$ ]]; then
  sanitizers=$1
  shift
fi

export CXX=${CXX:-clang++-19} OBJCXX=${OBJCXX:-clang++-19}
python=${PYTHON:-python3}
work=${STAND_IN_DIRECTORY:-build/stand_in}
if [ ! -x "$work/venv/bin/python" ]; then
  "$python" -m venv "$work/venv"
  "$work/venv/bin/pip" install -q "scikit-build-core>=0.11" "cython>=3.1" "cython-cmake>=0.2" "numpy>=2.0" \
    "cmake>=3.26" ninja pytest pytest-xdist hypothesis ml_dtypes scikit-learn matplotlib rich
fi
bin=$(cd "$work/venv/bin" && pwd)

defines="MPSGRAPH_NATIVE_METAL=STAND_IN;MPSGRAPH_NATIVE_SANITIZE=$sanitizers"
defines+=";MPSGRAPH_NATIVE_COVERAGE=${COVERAGE:+ON}"
# Compiling takes longer than the tests, and they are about the other engine.
defines+=";CMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG;CMAKE_OBJCXX_FLAGS_RELEASE=-O1 -DNDEBUG"
defines+=";MPSGRAPH_NATIVE_KERNEL_OPTIMIZATION=-O1"
# Not stripped: the sanitizers' reports, and the suppressions, go by the functions' names.
PATH="$bin:$PATH" SKBUILD_CMAKE_DEFINE="$defines" \
  "$bin/pip" install -q --no-build-isolation --no-deps --force-reinstall \
  -C build-dir="$work/build${sanitizers:+-${sanitizers//,/-}}" -C install.strip=false .

export MPSGRAPH_NATIVE_ENGINE=mps
case ",$sanitizers," in
  *,address,*) runtime=asan ;;
  *,thread,*) runtime=tsan ;;
  *,undefined,*) runtime=ubsan_standalone ;;
  *) runtime="" ;;
esac
options=()
reports=""
if [ -n "$runtime" ]; then
  # The demo ends with leaks of other packages' modules; the other two measure what the sanitizers keep of freed memory.
  # Not captured by file descriptor, so that reports are seen whatever becomes of the test.
  options=(--capture=sys --deselect tests/test_cli.py::test_demo
    --deselect tests/test_cases_recurrent.py::test_memory_of_many_gradients_is_flat
    --deselect tests/metal/test_reports.py::test_memory_stays_over_ten_thousand_gradients)
  export MPSGRAPH_NATIVE_TESTED_SANITIZERS=$sanitizers
  # What the caller's variables say comes last, and so wins.
  # ASAN_OPTIONS=fast_unwind_on_malloc=0 shows who asked Python for what leaked; it takes many times longer.
  # Each report fails the run, also one that a process wrote after its last test.
  reports=$(mktemp -d)
  common="external_symbolizer_path=$(command -v llvm-symbolizer-19 || command -v llvm-symbolizer)"
  common+=":log_path=$reports/report"
  export ASAN_OPTIONS="$common:detect_leaks=1:${ASAN_OPTIONS:-}"
  export UBSAN_OPTIONS="$common:print_stacktrace=1:${UBSAN_OPTIONS:-}"
  # Tests fork processes that have threads, and their children start others.
  export TSAN_OPTIONS="$common:history_size=4:die_after_fork=0:${TSAN_OPTIONS:-}"
  # Python's own allocator hides its objects, and what only they refer to, from the search for leaks.
  export PYTHONMALLOC=malloc
  export PYTHONPATH="$PWD/tests/metal/sanitized"
  library=$("$CXX" -print-file-name="libclang_rt.$runtime-$(uname -m).so")
  export LD_PRELOAD="$library $("$CXX" -print-file-name=libstdc++.so.6)"
fi
status=0
"$bin/pytest" "${options[@]}" -q -p no:cacheprovider "$@" || status=$?
if [ -n "$reports" ]; then
  unset LD_PRELOAD
  if [ -n "$(ls "$reports")" ]; then
    cat "$reports"/* >&2
    status=1
  fi
  rm -r "$reports"
fi
exit "$status"
