#!/usr/bin/env bash
# Rung 3: builds the package with the Metal engine on its stand-in and runs the tests on device mps.
# Usage: run_stand_in.sh [sanitizers] [pytest arguments], for example run_stand_in.sh address,undefined tests/metal
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
work=${STAND_IN_DIRECTORY:-build/stand_in${sanitizers:+-${sanitizers//,/-}}}
if [ ! -x "$work/venv/bin/python" ]; then
  "$python" -m venv "$work/venv"
  "$work/venv/bin/pip" install -q "scikit-build-core>=0.11" "cython>=3.1" "cython-cmake>=0.2" "numpy>=2.0" \
    "cmake>=3.26" ninja pytest hypothesis ml_dtypes scikit-learn matplotlib rich
fi

defines="MPSGRAPH_NATIVE_METAL=STAND_IN;MPSGRAPH_NATIVE_SANITIZE=$sanitizers"
defines+=";MPSGRAPH_NATIVE_COVERAGE=${COVERAGE:+ON}"
PATH="$PWD/$work/venv/bin:$PATH" SKBUILD_CMAKE_DEFINE="$defines" \
  "$work/venv/bin/pip" install -q --no-build-isolation --no-deps --force-reinstall -C build-dir="$work/build" .

export MPSGRAPH_NATIVE_ENGINE=mps
case ",$sanitizers," in
  *,address,*) runtime=asan ;;
  *,thread,*) runtime=tsan ;;
  *,undefined,*) runtime=ubsan_standalone ;;
  *) runtime="" ;;
esac
if [ -n "$runtime" ]; then
  library=$("$CXX" -print-file-name="libclang_rt.$runtime-$(uname -m).so")
  export LD_PRELOAD="$library $("$CXX" -print-file-name=libstdc++.so.6)"
  export ASAN_OPTIONS=detect_leaks=1:alloc_dealloc_mismatch=0
  export TSAN_OPTIONS=history_size=4
  export UBSAN_OPTIONS=print_stacktrace=1
fi
exec "$work/venv/bin/pytest" -q -p no:cacheprovider "$@"
