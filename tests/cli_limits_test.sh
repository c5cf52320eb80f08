#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside where something is limited: memory, room for results, steps, numbers.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

printf '<html><body><!--data--></body></html>' >page.html
run 0 simulate swing.yaml -q -o run.csv
verbs=(check derive eval simulate linearise 'steady --hold cart_rate' 'lqr --inputs push')
reports=('view run.csv --model swing.yaml --page page.html -o -' 'plot run.csv -y angle -o -')

# ---- memory ---------------------------------------------------------------------------------

# Sanitizers need address space without end.
if (ulimit -v 1000000 && "$trundle" --version >out 2>err); then
    # within KILOBYTES ARGUMENTS...: it works, or says that it does not, and soon
    within() {
        local limit=$1 status
        shift
        what="trundle $* within $limit kB"
        (ulimit -v "$limit" && exec timeout -k 1 20 "$trundle" "$@") >out 2>err </dev/null
        status=$?
        case $status in
        0) good ;;
        1 | 127) check grep -q 'out of memory\|error while loading shared libraries' err ;;
        *) bad "exit $status" ;;
        esac
    }
    for limit in 100000 150000 200000 250000 300000 500000 1000000; do
        for verb in "${verbs[@]}"; do
            # shellcheck disable=SC2086
            within $limit ${verb%% *} swing.yaml ${verb#"${verb%% *}"}
        done
        for verb in "${reports[@]}"; do
            # shellcheck disable=SC2086
            within $limit $verb
        done
        within $limit --help
        within $limit simulate swing.yaml -q -o few.mat
    done
    for limit in $(seq 20000 4000 120000); do
        within "$limit" simulate swing.yaml -q -o few.csv
        within "$limit" simulate swing.yaml -q -o few.mat
    done
    # shellcheck disable=SC2016
    what='threads of OpenBLAS, if it had as many as it likes'
    for limit in 100000 150000 200000 250000; do
        OPENBLAS_NUM_THREADS=8 within $limit linearise swing.yaml
    done

    what='a start waits for no library that not every model needs' # older ones have parts of libc apart
    ldd "$trundle" | awk '{ print $1 }' |
        grep -vE '/ld-linux|^(linux-vdso|libc|libm|libdl|libpthread|libyaml|libsundials)[-._]' >out
    check test ! -s out
fi

# ---- libraries that are loaded when they are needed -----------------------------------------

# loads COUNT LIBRARY ARGUMENTS...: it begins the library so many times
loads() {
    local count=$1 library=$2
    shift 2
    what="trundle $* loads $library"
    check test "$(LD_DEBUG=libs "$trundle" "$@" 2>&1 | grep -c "calling init.*/lib$library\.so")" -eq "$count"
}
loads 0 matio simulate swing.yaml -q -o few.csv
loads 1 matio simulate swing.yaml -q -o few.mat
loads 0 lapacke check swing.yaml
loads 1 lapacke linearise swing.yaml

mkdir broken
for library in matio lapacke; do
    for end in so.3 so.11 so dylib; do echo 'no library' >"broken/lib$library.$end"; done
done
# without WORDS ARGUMENTS...: exit 1 with these words, and what was there before is there still
without() {
    local words=$1
    shift
    echo 'from before' | tee last.mat >last.csv
    LD_LIBRARY_PATH=$PWD/broken run 1 "$@"
    err_has "$words"
    check test "$(cat last.mat last.csv | grep -c 'from before')" -eq 2
    no_temporaries
}
without '.mat files need matio: there is no libmatio.so.11 that can be loaded' simulate swing.yaml -q -o last.mat
without '.mat files need matio: there is no libmatio.so.11 that can be loaded' linearise swing.yaml -o last.mat
without 'linear models need LAPACK: there is no liblapacke.so.3 that can be loaded' linearise swing.yaml -o last.csv
LD_LIBRARY_PATH=$PWD/broken run 0 simulate swing.yaml -q -o last.csv

# ---- nowhere to write -----------------------------------------------------------------------

if [ -w /dev/full ]; then
    # full ARGUMENTS...: exit 4, with words
    full() {
        what="trundle $* >/dev/full"
        : >out
        "$trundle" "$@" >/dev/full 2>err </dev/null
        check test $? -eq 4
        err_has 'No space left on device'
        check test "$(grep -c 'cannot write' err)" -eq 1
    }
    for verb in "${verbs[@]}"; do
        # shellcheck disable=SC2086
        full ${verb%% *} swing.yaml ${verb#"${verb%% *}"}
        full "${verb%% *}" --help
    done
    for verb in check derive eval linearise; do full $verb swing.yaml --json; done
    full simulate swing.yaml --json -o other.csv
    for verb in "${reports[@]}"; do
        # shellcheck disable=SC2086
        full $verb
    done
    full steady swing.yaml --hold cart_rate -o state.yaml
    full linearise swing.yaml --sweep l=1:2:1
    full lqr swing.yaml --inputs push -o gains.yaml
    full view --help
    full --help
    full --version
    no_temporaries
fi

# ---- steps and numbers ----------------------------------------------------------------------

for method in erk bdf rk4 pece lie euler; do
    run 1 simulate swing.yaml --method $method --most-steps 40 --end 100 -o few.csv
    err_has 'the run took 4'
    err_has 'and may not take more: --most-steps sets the limit'
    check grep -q '"failure": "the run took 4' few.json
    check test -s few.csv
done
run 0 simulate swing.yaml -q --method rk4 --end 1 --every 0.1 --step 0.1 --most-steps 10
run 1 simulate swing.yaml -q --method rk4 --end 1 --every 0.1 --step 0.1 --most-steps 9
run 0 simulate swing.yaml -q --end 100 --every 10 --most-steps 0 --most-numbers 0
run 0 simulate swing.yaml -q --most-numbers 65 # 5 rows of 13
run 1 simulate swing.yaml --most-numbers 64 -o few.csv
err_has '4 rows of 13 numbers were recorded to t = 0.75, and there may not be more'
check test "$(column 1 few.csv)" = '0 0.25 0.5 0.75'
for limit in -1 1.5 many 1e30; do
    run 2 simulate swing.yaml --most-steps $limit
    err_has "--most-steps takes a "
    run 2 simulate swing.yaml --most-numbers=$limit
    err_has "--most-numbers takes a "
done
run 2 check swing.yaml --most-steps 5
err_is 'trundle: check takes no --most-steps'
# Contacts that open and close have one limit for all of it.
cat >bounce.yaml <<'END'
trundle: 1
bodies:
  ball: {joint: {type: prismatic, axis: "0, 0, 1", coordinate: z}, mass: 1}
contacts: {foot: {kind: slide, body: ball, unilateral: true, open: true, restitution: 1}}
initial: {z: 1}
END
run 1 simulate bounce.yaml --end 1e4 --every 1 --most-steps 2000 -o few.csv
err_has 'the run took 200'
check test "$(grep -c '"kind"' few.json)" -gt 2
for sweep in push=0:1:1e-12 push=0:1e300:1; do
    run 2 linearise swing.yaml --sweep $sweep
    run 2 steady swing.yaml --hold cart_rate --sweep $sweep
done

the_end
