#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The numbers of a run do not depend on the processor: every bundled model, all of its cases, and all
# methods for some, give the same files whatever kernels OpenBLAS would choose, and with Debian's own
# libblas and liblapack in its place where they are installed.    kernels_test.sh TRUNDLE ROOT
set -u
trundle=$(realpath "$1") root=$2
work=$(mktemp -d "${TMPDIR:-/tmp}/trundle_kernels.XXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
cd "$root" || exit 2
export OPENBLAS_NUM_THREADS=1
end=0.2     # long enough for impacts, charts and changes of them
several="bicycle sk8o delta stewart hopping_wheel flexible_mast tumbling cart_pole"
failed=0

# runs NAME: every run, each into a file of the folder NAME; some fail, and say why
runs() {
    mkdir "$work/$1"
    for model in models/*.yaml; do
        local name
        name=$(basename "$model" .yaml)
        for case in $(sed -n '/^cases:/,/^[a-z]/s/^  \([A-Za-z_0-9]*\):.*/\1/p' "$model") ''; do
            "$trundle" simulate "$model" ${case:+--case $case} --end $end --every 0.02 -q \
                -o "$work/$1/$name.$case.csv" 2>"$work/$1/$name.$case.said"
        done
    done
    for name in $several; do
        for method in bdf rk4 pece lie euler; do
            "$trundle" simulate "models/$name.yaml" --method $method --end $end --every 0.02 -q \
                -o "$work/$1/$name.$method.csv" 2>"$work/$1/$name.$method.said"
        done
    done
    rm -f "$work/$1"/*.json # seconds
}

# same NAME: as with the first kernels
same() {
    if diff -rq "$work/Prescott" "$work/$1" >"$work/differs"; then return; fi
    echo "FAILED: with $1 other numbers than with Prescott"
    sed 's/^/    /' "$work/differs"
    failed=1
}

OPENBLAS_CORETYPE=Prescott runs Prescott
OPENBLAS_CORETYPE=Haswell runs Haswell
same Haswell
for folder in /usr/lib/*/blas; do
    [ -e "$folder/libblas.so.3" ] && [ -e "${folder%blas}lapack/liblapack.so.3" ] || continue
    LD_LIBRARY_PATH=$folder:${folder%blas}lapack runs reference
    same reference
    break
done
echo "$(find "$work/Prescott" -name '*.csv' | wc -l) runs compared"
exit $failed
