#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside, with FMUs: exit codes, and no folder of theirs is left whatever they do.
root=$(dirname "$(dirname "$(realpath "$0")")")
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

mkdir temporary
export TMPDIR=$work/temporary
command -v python3 >/dev/null && command -v cc >/dev/null || { echo "left out: it takes python3 and cc"; exit 0; }

# make NAME FLAG SED: an FMU, with a change of its description
make_fmu() {
    cc -std=c11 -D_GNU_SOURCE -O1 -w -shared -fPIC $2 -I"$root/src" -o ball.so "$root/tests/fmu/ball.c" -lm
    sed "$3" "$root/tests/fmu/ball2.xml" >ball.xml
    python3 -c 'import sys, zipfile
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as z:
    z.write("ball.xml", "modelDescription.xml")
    z.write("ball.so", "binaries/linux64/ball.so")' "$1"
}
none_left() { check test -z "$(ls temporary)"; }

make_fmu ball.fmu "" ""
"$trundle" check ball.fmu 2>&1 | grep -q "XML needs expat" && { echo "left out: there is no expat"; exit 0; }
make_fmu wrong.fmu "" 's/derivative="1"/derivative="99"/'
make_fmu entity.fmu "" 's/<fmiModelDescription/<!DOCTYPE a [<!ENTITY a "a">]>\n<fmiModelDescription/'
make_fmu hangs.fmu -DHANGS ""
make_fmu crashes.fmu -DCRASHES ""

# ---- exit codes -----------------------------------------------------------------------------

run 0 check ball.fmu
out_has "FMI 2.0 for model exchange, co-simulation"
check grep -qx "2 states, 1 event indicator" out
silent
run 0 check ball.fmu --json
check is_json out
run 3 check wrong.fmu
err_has 'wrong.fmu: modelDescription.xml:19: '
run 3 check wrong.fmu --no-run --json
check is_json out
run 4 check nothing.fmu
mkdir broken
for end in so.1 so dylib; do echo 'no library' >broken/libexpat.$end; done
for verb in check simulate; do
    LD_LIBRARY_PATH=$PWD/broken run 1 $verb ball.fmu
    err_has 'XML needs expat: there is no libexpat.so.1 that can be loaded'
done
run 2 check ball.fmu --case one
run 2 simulate ball.fmu --kind both
run 2 check ball.fmu --kind both
run 2 derive ball.fmu
err_has "an FMU can be given to check and simulate"
run 2 simulate ball.fmu --report ball.html
run 2 simulate ball.fmu --end -1
run 2 simulate ball.fmu --set height=1
err_has "the FMU has no variable 'height'"
echo "no archive" >none.fmu
run 3 simulate none.fmu
run 3 simulate entity.fmu
err_has 'entity.fmu: modelDescription.xml:2: this is not XML that can be read: a document type (DOCTYPE) is refused'
check test "$(wc -l <err)" -eq 1
none_left

# ---- runs -----------------------------------------------------------------------------------

run 0 simulate ball.fmu --kind me --every 0.1 --rtol 1e-8 -o run.csv
check test "$(wc -l <run.csv)" -eq 22
check grep -q '^t,h,v,bounces,' run.csv
run 0 plot run.csv -y h -o ball.svg
run 0 simulate ball.fmu --kind cs --every 0.5 -v -o -
err_has "the FMU says: there is a ball: h #"
check test "$(wc -l <out)" -eq 6
run 1 simulate ball.fmu --most-steps 3 -o short.csv
none_left
no_temporaries

# ---- our own --------------------------------------------------------------------------------

# same MODEL FMI: its FMU is without mistakes, and moves as it does by CVODE
same() {
    run 0 export "$root/models/$1.yaml" --to fmu --fmi "$2" -o own.fmu -q
    run 0 check own.fmu
    silent
    run 0 simulate "$root/models/$1.yaml" --end 2 --every 0.1 -q -o model.csv
    run 0 simulate own.fmu --kind me --rtol 1e-8 --end 2 --every 0.1 -q -o fmu.csv
    check python3 -c 'import csv, sys
a, b = (list(csv.reader(open(name))) for name in ("model.csv", "fmu.csv"))
shared = [(i, b[0].index(name)) for i, name in enumerate(a[0]) if name in b[0]]
worst = max(abs(float(r[i]) - float(s[k])) / max(1, abs(float(r[i]))) for r, s in zip(a[1:], b[1:]) for i, k in shared)
sys.exit(not (len(a) == len(b) == 22 and len(shared) > 5 and worst < 1e-6))'
}
if "$trundle" export --help | grep -q 'fmu'; then
    same double_pendulum 2
    same bicycle 3
fi

# ---- signals --------------------------------------------------------------------------------

what="an FMU that hangs, and SIGTERM twice"
"$trundle" simulate hangs.fmu --kind me -o hangs.csv >out 2>err &
for _ in $(seq 100); do [ -n "$(ls temporary)" ] && break; sleep 0.2; done
sleep 0.5
check test -n "$(ls temporary)"
kill -TERM $!
sleep 0.2
kill -TERM $!
wait $!
none_left
no_temporaries
what="an FMU that crashes"
(ulimit -c 0; "$trundle" simulate crashes.fmu --kind me -o crashes.csv) >out 2>err
check test $? -ne 0
err_has "the code of the FMU crashed"
none_left
no_temporaries
the_end
