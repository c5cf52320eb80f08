#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: runs, how they end, and what is left when they fail or are stopped.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

# ---- simulate -------------------------------------------------------------------------------

header=t,cart,angle,cart_rate,angle_rate,height,weight,tau.cart,energy.kinetic,energy.potential,energy.work,residual.position,residual.velocity

run 0 simulate swing.yaml
check test "$(head -n 1 out)" = "$header"
check test "$(column 1 out)" = '0 0.25 0.5 0.75 1'
err_has 'reached t = 1 s: 5 rows'
cp out stdout.csv
run 0 simulate -o run.csv swing.yaml
no_data
err_has 'written to run.csv'
check cmp run.csv stdout.csv
check is_json run.json
no_temporaries
run 0 simulate swing.yaml -q -o -
silent
check cmp out stdout.csv
run 0 simulate swing.yaml --json -o run.csv # how it went, where no rows go
check is_json out
keys_are 't rows steps evaluations seconds energy_error position_error interrupted'
out_has '"rows": 5,'
run 0 simulate swing.yaml --json -o -
check cmp out stdout.csv
check is_json err
run 0 simulate swing.yaml --method euler --step 0.25 --end 3 --set l=0.1
err_has 'warning: the energy does not balance; try smaller steps or tolerances'
run 0 simulate swing.yaml -v -o run.csv
err_has 'bodies'
run 0 simulate swing.yaml -q --end 1 --every 0.3
silent
check test "$(column 1 out)" = '0 0.3 0.6 0.8999999999999999 1'
run 0 simulate swing.yaml -q --end 0 --every 1
check test "$(column 1 out)" = 0
run 0 simulate swing.yaml -q --end 0.01 --every 3
check test "$(column 1 out)" = '0 0.01'
run 0 simulate swing.yaml -q --case pushed
check test "$(column 1 out)" = '0 0.1 0.2 0.3 0.4 0.5' # read back as 3*0.1
check test "$(column 8 out)" = '3 3 3 3 3 3'
for method in erk bdf rk4 pece lie euler; do
    run 0 simulate swing.yaml -q --method $method --step 0.005
    check test "$(column 1 out)" = '0 0.25 0.5 0.75 1'
done
if python3 -c '' 2>/dev/null; then
    run 0 eval swing.yaml --json
    cp out first
    what='the shortest numbers that read back equal'
    check python3 - stdout.csv first <<'EOF'
import csv, json, sys
rows = list(csv.reader(open(sys.argv[1])))
start = json.load(open(sys.argv[2]))
assert all(len(f) <= len(repr(float(f))) for row in rows[1:] for f in row)
at = dict(zip(rows[0], map(float, rows[1])))
for group in "q", "v", "outputs":
    for name, value in start[group].items():
        assert at[name] == value, name
EOF
fi

run 2 simulate swing.yaml --end soon
no_data
err_is "trundle: --end takes a number, not 'soon'"
run 2 simulate swing.yaml --end -1
run 2 simulate swing.yaml --every 0
run 2 simulate swing.yaml --step 0
run 2 simulate swing.yaml --rtol 0
run 2 simulate swing.yaml --method magic
no_data
err_has "there is no method 'magic': it is erk, bdf, rk4, pece, lie, rosenbrock or euler"
run 2 simulate swing.yaml -o run.json
no_data
check is_json run.json

# ---- stiff systems --------------------------------------------------------------------------

cat >stiff.yaml <<'EOF'
trundle: 1
bodies:
  cart: {joint: {type: prismatic, axis: "1, 0, 0", coordinate: x, stiffness: 20}, mass: 2}
  load: {parent: cart, joint: {type: prismatic, axis: "1, 0, 0", stiffness: 1e5, damping: 1e3}, mass: 0.01}
initial: {x: 0.2}
cases: {explicit: {end: 1, every: 0.1}, implicit: {method: bdf, end: 1, every: 0.1}, bad: {method: gear}}
EOF
run 0 simulate stiff.yaml -o stiff.csv
err_has 'warning: the motion is stiff: '
check test "$(grep -c -- '--method bdf would need far fewer' err)" -eq 1
check test "$(grep -c -- '--method bdf would need far fewer' stiff.json)" -eq 1
run 0 simulate stiff.yaml -q -o stiff.csv
silent
run 0 simulate stiff.yaml --case implicit -o stiff.csv
err_has 'steps of bdf'
check test "$(grep -c 'warning' err)" -eq 0
check grep -q '"jacobians": ' stiff.json
check grep -q '"warnings": \[\]' stiff.json
run 2 simulate stiff.yaml --case bad
err_has "there is no method 'gear': it is erk, bdf, rk4, pece, lie, rosenbrock or euler"

# ---- sensitivities --------------------------------------------------------------------------

run 0 simulate swing.yaml -q --end 0.5 --every 0.1 --sensitivity m,l
check grep -q 'd(.*)/d(l)' out
run 2 simulate swing.yaml -q --sensitivity mm
err_has "there is no parameter or input 'mm'"
run 2 check swing.yaml --sensitivity m
err_is 'trundle: check takes no --sensitivity'

# ---- runs that fail or are stopped ----------------------------------------------------------

cat >burst.yaml <<'EOF'
trundle: 1
bodies:
  bead: {joint: {type: prismatic, axis: "1, 0, 0"}, mass: 1}
roles: {bead: {torque: 100*bead^3}}
initial: {bead: 1, d(bead): 1}
cases: {go: {end: 10, every: 0.01, method: rk4, step: 0.01}}
EOF
run 1 simulate burst.yaml -o burst.csv
no_data
err_has 'no longer finite at t = '
check test "$(head -n 1 burst.csv | cut -d, -f1-3)" = t,bead,bead_rate
check test "$(tail -c 1 burst.csv | od -An -c | tr -d ' ')" = '\n'
check is_json burst.json
check grep -q 'no longer finite' burst.json
run 1 simulate burst.yaml --method erk -q -o burst.csv
no_data
check test -s err

# A contact that would pull: the run ends there, unless the model says what else to do.
cat >plate.yaml <<'END'
trundle: 1
bodies:
  plate: {joint: {type: prismatic, axis: "0, 0, 1", coordinate: h}}
  block: {joint: {type: prismatic, axis: "0, 0, 1", coordinate: z}, mass: 1}
contacts: {foot: {kind: slide, body: block, on: plate}}
roles: {h: {motion: -t^3}}
END
run 1 simulate plate.yaml --end 3 --every 0.5 -o plate.csv
err_has "'foot' lifts off (see unilateral) at t = 1.635"
check test "$(wc -l <plate.csv)" -eq 5
check grep -q "lifts off (see unilateral) at t = 1.635" plate.json
sed -i 's/on: plate}/on: plate, unilateral: true}/' plate.yaml
run 0 simulate plate.yaml --end 3 --every 0.5 -o plate.csv
err_has 'contacts, stops or dry friction changed 1 time'
check grep -q "'foot' lifts off\"" plate.json
check test "$(wc -l <plate.csv)" -eq 8

# stopped SIGNAL METHOD: a long run, stopped while it writes
stopped() {
    what="a run of $2 stopped by $1"
    rm -f long.csv long.json
    "$trundle" simulate swing.yaml --method "$2" --end 1e6 --every 0.001 -o long.csv >out 2>err &
    local run=$! columns
    in_work $run
    sleep 0.5
    kill -s "$1" $run
    wait $run
    check test $? -eq 130
    no_data
    err_has 'interrupted at t = '
    columns=$(awk -F, 'NR == 1 { n = NF } NF != n { print "line", NR; exit } END { print n }' long.csv)
    check test "$columns" = 13
    check test "$(wc -l <long.csv)" -gt 2
    check test "$(tail -c 1 long.csv | od -An -c | tr -d ' ')" = '\n'
    check is_json long.json
    check grep -q '"interrupted": true' long.json
    check grep -q "\"rows\": $(($(wc -l <long.csv) - 1))," long.json
    no_temporaries
}
stopped INT erk
stopped INT bdf
stopped TERM erk
case $(awk '/^SigIgn/ { print $2 }' /proc/self/status) in
*[13579bdf]) ;; # under nohup it goes on
*) stopped HUP erk ;;
esac

the_end
