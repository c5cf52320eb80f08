#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: what families, sweeps and linear models say besides their numbers.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

# ---- families as JSON -----------------------------------------------------------------------

run 0 steady truss.yaml --sweep P=80:-80:5 -q -o family.csv
rows=$(($(wc -l <family.csv) - 1))
run 0 steady truss.yaml --sweep P=80:-80:5 --json
err_has '; folds at -62.023, 62.023'
check is_json out
keys_are 'parameter columns rows folds complete'
cp out family_out.json
run 0 steady truss.yaml --sweep P=80:-80:5 -q -o family.json
silent
no_data
check cmp family.json family_out.json
# its numbers are those of the CSV
if python3 -c '' 2>/dev/null; then
    python3 - >table.csv <<'END'
import json
family = json.load(open("family.json"))
assert family["complete"] is True and family["parameter"] == "P" and len(family["folds"]) == 2
print(",".join(family["columns"]))
for row in family["rows"]:
    print(*row, sep=",")
END
    check test "$(wc -l <table.csv)" -eq $((rows + 1))
    check python3 -c 'import csv
def read(name):
    return list(csv.reader(open(name)))
a, b = read("table.csv"), read("family.csv")
assert a[0] == b[0]
assert [[float(x) for x in row] for row in a[1:]] == [[float(x) for x in row] for row in b[1:]]'
fi
run 1 steady truss.yaml --hold y=5 --sweep P=80:-80:5 --json
no_data
run 4 steady truss.yaml --sweep P=80:-80:5 --json -o no/where.json
no_temporaries

# ---- starts that are not steady -------------------------------------------------------------

run 0 linearise swing.yaml --sweep l=0.5:1:0.1
err_has 'warning: at l = 0.5 the state is not steady: accelerations up to '
err_has '; nor is it at 5 others of 6 values'
check test "$(head -n 1 out)" = 'l,re1,im1,re2,im2,largest_acceleration'
run 0 linearise swing.yaml --set l=0.5 --json
largest=$(sed -n 's/.*"largest_acceleration": \([^,]*\),/\1/p' out)
out_has '"the state is not steady: accelerations up to '
run 0 linearise swing.yaml --sweep l=0.5:1:0.1 -q
silent
check test "$(sed -n 2p out | cut -d, -f6)" = "$largest"
run 0 linearise swing.yaml --sweep l=0.5:1:0.1 -q --json
check is_json out
check grep -q "\"largest_acceleration\": \[$largest, " out
cat >upright.yaml <<'END'
trundle: 1
parameters: {k: 30, lean: 0}
bodies:
  pole: {joint: {type: revolute, axis: "0, 1, 0", coordinate: angle, stiffness: k}, mass: 2, com: "0, 0, 0.5"}
initial: {angle: lean}
END
run 0 linearise upright.yaml --sweep k=15:30:5
err_is 'modes 1, 2: angle
no eigenvalue crosses the imaginary axis between k = 15 and 30'
check test "$(column 6 out)" = '0 0 0 0'
run 0 linearise upright.yaml --sweep lean=0:0.1:0.1
err_has 'warning: at lean = 0.1 the state is not steady: accelerations up to '
check test "$(wc -l <err)" -eq 3

# ---- outputs with a kink --------------------------------------------------------------------

kink="the derivative of the output 'speed' is not finite at this state: it has no rows in C and D"
run 0 linearise "$reported/nf.yaml"
out_has "$kink"
out_has '  x                            0           1'
silent
run 0 linearise "$reported/nf.yaml" --json
check is_json out
out_has "\"$kink\""
out_has '[null, null]'
for file in lin.csv lin.mat; do
    run 0 linearise "$reported/nf.yaml" -o $file
    err_is "warning: $kink
written to $file"
done
check grep -q '^C,speed,x_rate,nan$' lin.csv
check grep -q '^A,x,x_rate,1$' lin.csv
run 0 linearise "$reported/nf.yaml" -q -o lin.csv
silent
{ grep -v '^outputs' "$reported/nf.yaml"; printf 'outputs: {speed: sqrt(d(x)^2), place: x}\n'; } >two.yaml
run 0 linearise two.yaml
out_has '  speed                        -           -'
out_has '  place                        1           0'
run 0 linearise two.yaml --json
out_has '[null, null]'
out_has '[1, 0]'
out_has '"observable": 2'
run 0 linearise two.yaml --reduce --json
out_has "\"$kink\""
# a rate with a kink: nothing is left
{ cat "$reported/nf.yaml"; printf 'roles: {x: {torque: -sqrt(d(x)^2)}}\n'; } >rough.yaml
run 1 linearise rough.yaml
err_is "trundle: the linear model is not finite at this state: the rate of 'x_rate' has no slopes"

the_end
