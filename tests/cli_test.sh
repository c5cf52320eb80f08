#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: exit codes, what goes to which stream, files, words.
#   tests/cli_test.sh TRUNDLE WORK_DIRECTORY [HAS_PAGE]
# HAS_PAGE is yes or no: whether the program was built with the page of reports.
set -u
[ $# -eq 2 ] || [ $# -eq 3 ] || { echo "usage: $0 TRUNDLE WORK_DIRECTORY [HAS_PAGE]" >&2; exit 2; }
has_page=${3:-}
trundle=$(realpath "$1")
[ -x "$trundle" ] || { echo "$0: $1 is no program" >&2; exit 2; }
mkdir -p "$2" && cd "$2" || exit 2
work=$(mktemp -d cli_test.XXXXXX) && cd "$work" || exit 2
trap 'cd .. && rm -rf "$work"' EXIT
export LC_ALL=C
passed=0
failed=0

# ---- saying what should be ------------------------------------------------------------------

good() { passed=$((passed + 1)); }
bad() {
    failed=$((failed + 1))
    echo "FAILED: $what: $*"
    sed 's/^/    out: /' out | head -n 5
    sed 's/^/    err: /' err | head -n 5
}
# check CONDITION... : a command that must succeed
check() { if "$@"; then good; else bad "$*"; fi; }
# run STATUS ARGUMENTS...: runs trundle, leaves `out` and `err`
run() {
    local wanted=$1 status
    shift
    what="trundle $*"
    "$trundle" "$@" >out 2>err </dev/null
    status=$?
    if [ "$status" -eq "$wanted" ]; then good; else bad "exit $status, not $wanted"; fi
}
out_has() { check grep -qF -- "$1" out; }
err_has() { check grep -qF -- "$1" err; }
err_is() {
    printf '%s\n' "$1" >wanted
    if cmp -s wanted err; then good; else bad "stderr is not: $1"; fi
}
silent() { check test ! -s err; }
no_data() { check test ! -s out; }
no_temporaries() { check test -z "$(find . -name '*.tmp')"; }

if python3 -c '' 2>/dev/null; then
    is_json() { python3 -m json.tool "$1" >/dev/null 2>&1; }
    # keys FILE: the keys on top, in order
    keys() { python3 -c 'import json,sys; print(*json.load(open(sys.argv[1])))' "$1"; }
else
    is_json() { [ "$(tr -cd '{[' <"$1" | wc -c)" -eq "$(tr -cd '}]' <"$1" | wc -c)" ]; }
    keys() { sed -n 's/^  "\([^"]*\)":.*/\1/p' "$1" | paste -sd' '; }
fi
keys_are() {
    local found
    found=$(keys out)
    if [ "$found" = "$1" ]; then good; else bad "keys are $found"; fi
}

# ---- models ---------------------------------------------------------------------------------

cat >swing.yaml <<'EOF'
trundle: 1
name: swing
parameters:
  m: 2
  l: 0.5
  I: m*l^2/12        # derived
inputs: {push: 0}
bodies:
  cart: {joint: {type: prismatic, axis: "1, 0, 0", base: true}, mass: m}
  arm:
    parent: cart
    joint: {type: revolute, axis: "0, 1, 0", coordinate: angle}
    mass: m
    com: 0, 0, -l/2
    inertia: {xx: I, yy: I, zz: 0.001}
roles:
  cart: {torque: push}
outputs:
  height: arm.z - l*cos(angle)
  weight: I
initial: {angle: 0.3, d(angle): 0.1}
cases:
  plain: {end: 1, every: 0.25}
  pushed: {set: {push: 3}, end: 0.5, every: 0.1, method: rk4, step: 0.01}
EOF
cat >burst.yaml <<'EOF'
trundle: 1
bodies:
  bead: {joint: {type: prismatic, axis: "1, 0, 0"}, mass: 1}
roles: {bead: {torque: 100*bead^3}}
initial: {bead: 1, d(bead): 1}
cases: {go: {end: 10, every: 0.01, method: rk4, step: 0.01}}
EOF

# ---- verbs, help, options -------------------------------------------------------------------

run 2
no_data
err_has 'usage: trundle VERB MODEL'
run 0 --help
silent
out_has 'usage: trundle VERB MODEL'
for verb in check derive eval simulate linearise steady view; do
    out_has "  $verb "
done
run 0 --version
out_has 'trundle '
for verb in check derive eval simulate steady; do
    run 0 "$verb" --help
    silent
    out_has "usage: trundle $verb MODEL"
    out_has "trundle $verb models/"
    run 0 "$verb" swing.yaml -h
    out_has "usage: trundle $verb MODEL"
    run 2 "$verb"
    no_data
    err_is "trundle: which model? usage: trundle $verb MODEL [options]"
    run 2 "$verb" swing.yaml other.yaml
    err_is "trundle: one model at a time: 'swing.yaml' and 'other.yaml'"
    run 2 "$verb" swing.yaml --jsno
    err_is "trundle: unknown option '--jsno'; did you mean '--json'?"
    run 2 "$verb" swing.yaml --whatever
    err_is "trundle: unknown option '--whatever'"
    run 2 "$verb" swing.yaml --set
    err_is 'trundle: --set needs a value'
    run 2 "$verb" swing.yaml --json=yes
    err_is 'trundle: --json takes no value'
    run 4 "$verb" nothing.yaml
    no_data
    err_is "trundle: cannot read 'nothing.yaml': No such file or directory"
    run 4 "$verb" .
    err_is "trundle: cannot read '.': Is a directory"
    run 3 "$verb" /dev/null
    err_is '/dev/null:1:1: the file is empty'
done
run 2 chekc swing.yaml
no_data
err_is "trundle: unknown verb 'chekc'; did you mean 'check'?"
run 2 frobnicate swing.yaml
err_is "trundle: unknown verb 'frobnicate'"
run 2 --json check swing.yaml
err_is 'trundle: the verb comes first: trundle VERB MODEL --json'
run 2 check swing.yaml --end 3
err_is 'trundle: check takes no --end'

# ---- check, derive, eval --------------------------------------------------------------------

run 0 check swing.yaml
silent
out_has 'ok: 2 bodies, 2 degrees of freedom'
run 0 check --json swing.yaml
check is_json out

run 0 derive swing.yaml
silent
out_has 'swing'
run 0 derive swing.yaml --json
silent
check is_json out
keys_are 'bodies n s_p s_a rows m m_locked redundant antagonist hyperstatic hyperstatic_rows kernel independent kinematic dynamic operations nodes seconds verdict'
out_has '"rhs"'
out_has '"rhs_symbolic"'
cp out after
run 0 derive --json swing.yaml
keys_are "$(keys after)"

run 0 eval swing.yaml
silent
run 0 eval swing.yaml --json
silent
check is_json out
keys_are 'q v vdot lambda tau outputs solved residual'
out_has '"angle": 0.3'
out_has '"angle_rate": 0.1'
out_has '"cart": 0'
cp out first
run 0 eval --json swing.yaml -o -
check cmp out first
run 0 eval --json -o eval.json swing.yaml
no_data
check cmp eval.json first
no_temporaries

# ---- steady ---------------------------------------------------------------------------------

run 1 steady swing.yaml
no_data
err_is "trundle: 1 more unknown than equations: hold 1 more, such as 'cart_rate', or formulas"
run 0 steady swing.yaml --hold cart_rate=2
silent
out_has 'v        cart_rate                2'
out_has 'found    residual'
run 0 steady --json swing.yaml --hold=cart_rate
silent
check is_json out
keys_are 'q v along lambda tau outputs parameters eigenvalues warnings stability residual iterations'
run 0 steady swing.yaml --hold cart_rate=0 -o state.yaml
check grep -q '^initial:' state.yaml
out_has 'found    residual'
{ sed '/^initial:/d' swing.yaml; cat state.yaml; } >rest.yaml
run 0 check rest.yaml
run 1 steady swing.yaml --case pushed --hold cart_rate
err_has 'no steady motion near the guess: after '
run 2 steady swing.yaml --hold cart_rat=0
err_is "trundle: --hold 'cart_rat': unknown name 'cart_rat'; did you mean 'cart_rate'?"
run 2 steady swing.yaml --free pusj
err_is "trundle: there is no parameter or input 'pusj' to free; did you mean 'push'?"
run 2 steady swing.yaml --free
err_is 'trundle: --free needs a value'
run 2 eval swing.yaml --free push
err_is 'trundle: eval takes no --free'
run 2 steady swing.yaml --sweep l=1
err_is "trundle: --sweep takes formula=from:to:step with three numbers, not 'l=1'"
run 0 steady swing.yaml --case pushed --free push --hold cart_rate --sweep l=0.4:0.6:0.1
check test "$(wc -l <out)" -eq 4
err_has '3 rows, up to 0.6'
run 0 steady swing.yaml --hold cart_rate --sweep m=1:2:0.5 -q -o family.csv
silent
no_data
check test "$(wc -l <family.csv)" -eq 4
run 4 steady swing.yaml --hold cart_rate --sweep m=1:2:0.5 -o no/where.csv
no_temporaries

# A spring between a wall and a head on a rail snaps through: P = k y (1 - L/s), s^2 = y^2 + b^2
cat >truss.yaml <<'END'
trundle: 1
parameters: {k: 400, b: 0.6, L: 1}
inputs: {P: 0}
gravity: 0, 0, 0
bodies:
  head: {joint: {type: prismatic, axis: "0, 0, 1", coordinate: y, damping: 1, potential: k/2*(sqrt(y^2 + b^2) - L)^2}, mass: 2}
roles: {y: {torque: P}}
initial: {y: 1}
END
run 0 steady truss.yaml --sweep P=80:-80:5 -o family.csv
no_data
err_has '; folds at -62.0229826424, 62.0229826424' # s^3 = L b^2
err_has 'written to family.csv'
run 0 steady truss.yaml --sweep P=80:-20:5 -q
silent
run 0 steady truss.yaml --free P --hold y=0.9
out_has 'free     P '
run 0 steady truss.yaml --free P --hold y=0.9 -q -o state.yaml
check grep -q '^# *P: 27.179882' state.yaml
check grep -q '^# parameters or inputs that were found' state.yaml

# ---- --set and --case -----------------------------------------------------------------------

run 0 eval swing.yaml --json --set m=3
out_has '"weight": 0.0625'
run 0 eval swing.yaml --json --set I=m/4
out_has '"weight": 0.5'
run 0 eval swing.yaml --json --set m=1 --set m=4 --set=l=1
out_has '"weight": 0.3333333333333333'
run 0 eval swing.yaml --json --set push=7
out_has '"cart": 7'
run 0 eval swing.yaml --json --case pushed
out_has '"cart": 3'
run 0 eval swing.yaml --json --set push=-1 --case=pushed
out_has '"cart": -1'
run 2 eval swing.yaml --set pusj=7
no_data
err_is "trundle: there is no parameter or input 'pusj'; did you mean 'push'?"
run 2 eval swing.yaml --set angle=7
err_is "trundle: there is no parameter or input 'angle'"
for wrong in m =3 m= =; do
    run 2 eval swing.yaml --set "$wrong"
    err_is "trundle: --set takes name=formula, not '$wrong'"
done
run 2 eval swing.yaml --set l=1 --set 'm=2*(1+'
no_data
err_is "trundle: --set: the formula ends where a number, a name or '(' is expected
  m=2*(1+
         ^"
run 2 eval swing.yaml --set m=1/0
err_is "trundle: --set: the parameter 'm' is not finite
  m=1/0
    ^"
run 2 eval swing.yaml --case pushd
err_is "trundle: there is no case 'pushd'; did you mean 'pushed'?"
run 2 eval swing.yaml --case nothing
err_is "trundle: there is no case 'nothing'"

# ---- mistakes in models ---------------------------------------------------------------------

# complains TEXT WORDS: of a model, with its line and a caret
complains() {
    printf '%b' "$1" >wrong.yaml
    run 3 check wrong.yaml
    no_data
    err_is "wrong.yaml:$2"
}
complains 'trundle: 1\nbodies:\n a: {mas: 1}\n' "3:6: unknown key 'mas' in 'a'; did you mean 'mass'?
   a: {mas: 1}
       ^"
complains 'trundle: 1\nbodies:\n  a:\n    mass: "1 + nil"\n' "4:16: unknown name 'nil'
      mass: \"1 + nil\"
                 ^"
complains 'trundle: 1\nbodies:\n  a: {com: "0, 0,\t1 + nil"}\n' "3:23: unknown name 'nil'
    a: {com: \"0, 0,	1 + nil\"}
                   	    ^"
complains 'trundle: 1\nname: "é→"\nbodies: {é: {mas: 1}}\n' "3:14: unknown key 'mas' in 'é'; did you mean 'mass'?
  bodies: {é: {mas: 1}}
               ^"
complains 'trundle: 1\r\nbodies: {a: {mas: 1}}\r\n' "2:14: unknown key 'mas' in 'a'; did you mean 'mass'?
  bodies: {a: {mas: 1}}
               ^"
complains '\xef\xbb\xbfname: a' "1:1: the file must begin with 'trundle: 1'
  name: a
  ^"
complains 'trundle: 1\nname: \x1b[31m' "2:7: this is not text: control characters are not allowed
  name: ?[31m
        ^"
{ printf 'trundle: 1\nbodies: {a: {mass: "'; printf '1 + %.0s' {1..200}; printf 'nil"}}\n'; } >long.yaml
run 3 check long.yaml
err_has "long.yaml:2:821: unknown name 'nil'"
check test "$(wc -L <err)" -lt 120
check test "$(sed -n 3p err)" = "$(printf '%62s^' '')"
printf 'trundle: 1\nbodies: {}\n' >none.yaml
run 3 check none.yaml
check grep -qE '^none.yaml(:1:1)?: ' err
what='a model from a pipe'
printf 'trundle: 1\nnam: a\n' | "$trundle" check /dev/stdin >out 2>err
check test $? -eq 3
err_is "/dev/stdin:2:1: unknown key 'nam' in 'model'; did you mean 'name'?"

# ---- simulate -------------------------------------------------------------------------------

header=t,cart,angle,cart_rate,angle_rate,height,weight,tau.cart,energy.kinetic,energy.potential,energy.work,residual.position,residual.velocity
column() { cut -d, -f"$1" "$2" | tail -n +2 | paste -sd' '; }

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
err_has "there is no method 'magic': it is erk, bdf, rk4, pece, lie or euler"
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
err_has "there is no method 'gear': it is erk, bdf, rk4, pece, lie or euler"

# ---- sensitivities --------------------------------------------------------------------------

run 0 simulate swing.yaml -q --end 0.5 --every 0.1 --sensitivity m,l
check grep -q 'd(.*)/d(l)' out
run 2 simulate swing.yaml -q --sensitivity mm
err_has "there is no parameter or input 'mm'"
run 2 check swing.yaml --sensitivity m
err_is 'trundle: check takes no --sensitivity'

# ---- lqr ------------------------------------------------------------------------------------

cat >pole.yaml <<'END'
trundle: 1
parameters: {l: 0.5}
inputs: {push: 0}
bodies:
  cart: {joint: {type: prismatic, axis: "1, 0, 0", coordinate: x}, mass: 1}
  pole: {parent: cart, joint: {type: revolute, axis: "0, 1, 0", coordinate: angle}, mass: 0.1, com: "0, 0, l"}
  other: {joint: {type: revolute, axis: "0, 1, 0", coordinate: b}, mass: 1, com: "0, 0, -l"}
roles: {x: {torque: 2*push}}
initial: {x: 0, angle: 0}
END
sed '/other/d' pole.yaml >alone.yaml
run 0 lqr alone.yaml --inputs push --q x=4
out_has 'closed   -'
out_has '    torque: 2*('
out_has '# push = '
silent
run 0 lqr alone.yaml --inputs x --json
keys_are 'states inputs A B Q R K eigenvalues open_eigenvalues residual unsteadiness neutral laws'
run 0 lqr alone.yaml --inputs x --step 0.01 -q -o gains.yaml
check grep -q '^  x:$' gains.yaml
no_data
run 0 lqr alone.yaml --inputs x -o -
check test "$(grep -c '^roles:' out)" -eq 1
run 1 lqr pole.yaml --inputs push # the other one swings for ever, and is not reached
err_has "cannot move the eigenvalue"
err_has "'b'"
run 2 lqr alone.yaml
err_has 'which inputs?'
run 2 lqr alone.yaml --inputs pusj
err_has "did you mean 'push'?"
run 2 lqr alone.yaml --inputs push --q angel=1
err_has "did you mean 'angle'?"
run 2 lqr alone.yaml --inputs push --step h
err_is "trundle: --step takes a number, not 'h'"

# ---- files ----------------------------------------------------------------------------------

echo old >kept.csv
for wrong in '--method magic' '--end soon' '--case nothing'; do
    # shellcheck disable=SC2086
    run 2 simulate swing.yaml -o kept.csv $wrong
    check test "$(cat kept.csv)" = old
done
run 3 simulate none.yaml -o kept.csv
check test "$(cat kept.csv)" = old
no_temporaries
# What is read is not written over, whatever the verb.
cp swing.yaml precious.yaml
for verb in check derive eval simulate linearise 'lqr --inputs push' 'steady --hold cart_rate'; do
    # shellcheck disable=SC2086
    run 2 $verb precious.yaml -o ./precious.yaml
    no_data
    err_is "trundle: 'precious.yaml' would be overwritten: write to another file"
done
run 2 simulate precious.yaml --report precious.yaml -o unused.csv
run 2 linearise precious.yaml --sweep l=1:2:1 --plot precious.yaml
check cmp swing.yaml precious.yaml
run 2 simulate swing.yaml --report both.html -o both.html
err_is "trundle: rows and report cannot both go to 'both.html'"
run 4 simulate swing.yaml -o /nowhere/run.csv
no_data
err_has "cannot write '/nowhere/run.csv': No such file or directory"
run 4 derive swing.yaml -o /nowhere/out.txt
err_has "cannot write '/nowhere/out.txt': No such file or directory"
run 4 simulate swing.yaml -o /nowhere/run.mat
err_has "cannot write '/nowhere/run.mat'"
if [ -w /dev/full ]; then
    run 4 derive swing.yaml -o /dev/full
    err_has 'No space left on device'
    for verb in check derive eval 'simulate --every 0.001'; do
        what="trundle $verb >/dev/full"
        : >out
        # shellcheck disable=SC2086
        "$trundle" $verb swing.yaml >/dev/full 2>err
        check test $? -eq 4
        err_has 'No space left on device'
    done
fi
mkdir shut
chmod 555 shut
if [ ! -w shut ]; then
    run 4 simulate swing.yaml -o shut/run.csv
    err_has 'Permission denied'
fi
run 0 simulate swing.yaml -q -o run.mat
silent
what='a .mat file'
check test "$(head -c 10 run.mat | tr -d '\0')" = 'MATLAB 5.0'
no_temporaries

# ---- runs that fail or are stopped ----------------------------------------------------------

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
err_has 'contacts opened, closed, slipped or stuck 1 times'
check grep -q "'foot' lifts off\"" plate.json
check test "$(wc -l <plate.csv)" -eq 8

# stopped SIGNAL METHOD: a long run, stopped while it writes
stopped() {
    what="a run of $2 stopped by $1"
    rm -f long.csv long.json
    "$trundle" simulate swing.yaml --method "$2" --end 1e6 --every 0.001 -o long.csv >out 2>err &
    local run=$! columns
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

# ---- plot -----------------------------------------------------------------------------------

# is_svg FILE: valid, as far as there is something to check it with
is_svg() {
    [ "$(head -c 5 "$1")" = '<svg ' ] && [ "$(tail -n 1 "$1")" = '</svg>' ] || return 1
    ! command -v xmllint >/dev/null || xmllint --noout "$1" || return 1
    ! python3 -c '' 2>/dev/null || python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$1"
}
run 0 simulate swing.yaml -q --every 0.05 -o swing.csv
run 0 plot swing.csv -y angle,angle_rate -y height -o fig.svg
no_data
silent
check is_svg fig.svg
check grep -qF '<title>angle, angle_rate, height against t</title>' fig.svg
check grep -qF '>t [s]</text>' fig.svg
cp fig.svg first.svg
for stdout in '-o -' ''; do
    # shellcheck disable=SC2086
    run 0 plot swing.csv -y angle,angle_rate -y height $stdout
    silent
    check cmp out first.svg
done
run 0 plot swing.csv -o -
out_has '<title>height, weight against t</title>'
run 0 plot -x angle --from 0.2 --to=0.6 -y angle_rate --title '<a & "b">' --size 400x300 swing.csv -o fig.svg
check is_svg fig.svg
check grep -qF '>&lt;a &amp; &quot;b&quot;&gt;</text>' fig.svg
check grep -qF 'viewBox="0 0 400 300"' fig.svg
run 0 plot swing.csv -y energy.kinetic --log -o fig.svg
check is_svg fig.svg
check grep -qF '>energy.kinetic [J]</text>' fig.svg
cp swing.csv again.csv
run 0 plot swing.csv again.csv -y angle -o fig.svg
check grep -qF '>again</text>' fig.svg
printf 't,contact.rim.x,contact.rim.y,hub_x,hub_y\n0,0,0,1,0\n1,1,0,2,0\n2,2,1,3,1\n' >roll.csv
for track in '--track roll.csv' 'roll.csv --track' 'roll.csv --track rim' 'roll.csv --track=rim'; do
    # shellcheck disable=SC2086
    run 0 plot $track
    out_has '<title>track of rim</title>'
done
run 0 plot roll.csv --track hub,rim -o fig.svg
check is_svg fig.svg
check grep -qF '<title>track of hub, rim</title>' fig.svg
no_temporaries

echo old >kept.svg
run 2 plot swing.csv -y angel -o kept.svg
no_data
err_is "trundle: 'swing.csv' has no column 'angel'; did you mean 'angle'?"
check test "$(cat kept.svg)" = old
run 2 plot roll.csv --track rum
err_is "trundle: 'roll.csv' has no track 'rum'; did you mean 'rim'?"
run 2 plot
err_is 'trundle: which run? usage: trundle plot RUN.csv... [options]'
run 2 plot swing.csv -y angle -o swing.csv
err_is "trundle: pictures are SVG: 'swing.csv' should end in .svg"
check cmp swing.csv again.csv
run 2 plot swing.csv -y
err_is 'trundle: -y needs a value'
run 2 plot swing.csv --case plain
err_is 'trundle: plot takes no --case'
run 2 simulate swing.yaml --track
err_is 'trundle: simulate takes no --track'
run 2 plot swing.csv --size 400
err_is "trundle: --size takes a width and a height, as 720x400, not '400'"
run 2 plot swing.csv --from soon
err_is "trundle: --from takes a number, not 'soon'"
run 2 plot swing.csv --from 5 --to 6
err_is "trundle: 'swing.csv' has no rows there: its t is from 0 to 1"
printf 'a,b\n1,2\n2,3\n' >timeless.csv
run 0 plot timeless.csv -x a --from 1.5
run 2 plot timeless.csv -x t --from 1
err_is "trundle: 'timeless.csv' has no column 't' to cut by"
printf 't\n1\n2\n' >alone.csv
run 3 plot alone.csv
err_is "trundle: 'alone.csv' has nothing to draw against its x"
printf 't,a\n0,1e22\n1,1.0000000001e22\n' >large.csv
run 0 plot large.csv -y a
out_has '>a − 1×10²² [10¹²]<'
printf 't,%s\n0,1\n1,2\n' "$(printf 'long_%.0s' $(seq 50))" >long.csv
run 0 plot long.csv -o fig.svg
check is_svg fig.svg
check grep -qF '…</text>' fig.svg # as much of the name as fits
run 3 plot swing.yaml
no_data
run 3 plot /dev/null
err_is "trundle: '/dev/null' is no table of numbers"
run 4 plot nothing.csv
err_is "trundle: cannot read 'nothing.csv': No such file or directory"
run 4 plot swing.csv -o /nowhere/fig.svg
err_has "cannot write '/nowhere/fig.svg'"
run 0 plot --help
out_has 'usage: trundle plot RUN.csv...'
out_has '--track'

# ---- constraints ----------------------------------------------------------------------------

# tied FILE LINES...: two sliders, and what ties them
tied() {
    local file=$1
    shift
    cat >"$file" <<'EOF'
trundle: 1
bodies:
  a: {joint: {type: prismatic, axis: "1, 0, 0", coordinate: x}, mass: 1}
  b: {joint: {type: prismatic, axis: "1, 0, 0", coordinate: y}, mass: 1}
EOF
    printf '%s\n' "$@" >>"$file"
}
tied gear.yaml 'couplings: {gear: {coordinate: x, equals: {y: 2}}}'
run 0 check gear.yaml
out_has '1 constraint row, 1 independent'
for verb in check derive eval simulate steady; do
    tied bad.yaml 'contacts: {edge: {kind: skate, body: aa}}'
    run 3 $verb bad.yaml
    no_data
    check test "$(head -n 1 err)" = "bad.yaml:5:38: there is no body 'aa'; did you mean 'a'?"
    tied bad.yaml 'couplings: {gear: {coordinate: x, equals: {x: 2}}}'
    run 3 $verb bad.yaml
    no_data
    check test "$(head -n 1 err)" = "bad.yaml:5:44: 'gear' couples 'x' to itself"
    tied bad.yaml 'constraints: {one: {position: x - y}, two: {position: x - y - 1}}'
    run 3 $verb bad.yaml
    no_data
    err_has "'one.position', 'two.position', off by 0.5"
    tied bad.yaml 'constraints: {one: {position: x}, two: {position: y}}'
    run 3 $verb bad.yaml
    case $verb in
    check | derive) out_has 'locked' ;;
    *) no_data ;;
    esac
    err_has 'bad.yaml:5:15: nothing can move: the constraints leave none of the 2 velocities free'
done
tied part.yaml 'constraints: {tie: {position: x - y}}' \
    'roles: {x: {motion: t}, y: {motion: "t + if(t < 1, 0, (t - 1)^3)"}}'
run 0 check part.yaml
run 3 simulate part.yaml --every 0.25 -o part.csv
no_data
err_has "the motions contradict the constraints at t = 1.0"
err_has "'tie.position' cannot all hold, off by "
check test "$(column 1 part.csv)" = '0 0.25 0.5 0.75 1'
check grep -q 'the motions contradict' part.json

# ---- linear models --------------------------------------------------------------------------

run 0 linearise swing.yaml --json
silent
check is_json out
keys_are 'states inputs outputs A B C D eigenvalues damping frequency modes displacements symmetries_removed controllable observable largest_acceleration about'
run 0 linearise swing.yaml --reduce
out_has 'left out: 1 symmetry'
out_has 'change of the coordinate angle'
out_has 'the state is not steady'
run 0 linearise swing.yaml --step 0.01 --json
check grep -q '"discrete": {' out
run 0 linearise swing.yaml --step 0.01 -o lin.csv
silent
no_data
check grep -q '^matrix,row,column,value$' lin.csv
check grep -q '^A,cart,cart_rate,1$' lin.csv
check grep -q '^Bd,cart_rate,push,' lin.csv
run 0 linearise swing.yaml -o lin.json
check is_json lin.json
run 0 linearise swing.yaml -o lin.mat
check grep -q 'MATLAB 5.0' lin.mat
run 0 linearise swing.yaml --sweep l=0.5:1:0.1
check test "$(head -n 1 out)" = 'l,re1,im1,re2,im2'
check test "$(wc -l <out)" -eq 7
err_has 'no eigenvalue crosses'
# It stands upright by a spring, and swings ever more when the damping turns negative.
cat >upright.yaml <<'END'
trundle: 1
parameters: {k: 30, c: 0.4}
bodies:
  pole: {joint: {type: revolute, axis: "0, 1, 0", coordinate: angle, stiffness: k, damping: c}, mass: 2, com: "0, 0, 0.5"}
END
run 0 linearise upright.yaml --sweep k=5:15:1 -o sweep.json --plot sweep.svg
err_has 'k = 9.81: an eigenvalue becomes stable, divergent'
check is_json sweep.json
check grep -q '"kind": "divergent"' sweep.json
check grep -q '"becomes": "stable"' sweep.json
check grep -q '</svg>' sweep.svg
check grep -q '9.81' sweep.svg
run 0 linearise upright.yaml --sweep c=-0.25:0.5:0.1
err_has 'an eigenvalue becomes stable, oscillatory at 6.35'
run 0 linearise upright.yaml --step 0.01
out_has 'from one instant to the next, 0.01 s later'
run 0 linearise upright.yaml --step 0.01 -o lin.mat
check grep -q 'MATLAB 5.0' lin.mat
many=$(for i in $(seq 256); do echo --set k=$i; done)
run 0 linearise upright.yaml -q $many
run 2 linearise upright.yaml $many --set c=1
err_has 'trundle: --set more than 256 times'
run 2 linearise upright.yaml $many --sweep k=5:15:1
err_has 'trundle: --set more than 255 times'
run 0 linearise swing.yaml --sweep I=0.1:0.2:0.05 -q --json
silent
check is_json out
keys_are 'parameter values eigenvalues critical'
run 0 linearise swing.yaml --sweep push=0:1:0.5 -q -o sweep.svg --plot other.svg
no_data
check cmp sweep.svg other.svg
check grep -q '</svg>' sweep.svg
for range in l l= l=1 l=1:2 l=1:2: l=a:2:1 l=1:inf:1 l=1:2:nan =1:2:1 l=1:2:3:4; do
    run 2 linearise swing.yaml --sweep "$range"
    no_data
    err_has '--sweep takes name=from:to:step'
done
run 2 linearise swing.yaml --sweep l=1:2:0
err_has 'the step of a sweep is positive, not 0'
run 2 linearise swing.yaml --sweep l=2:1:0.1
err_has 'a sweep goes upwards, not from 2 to 1'
run 2 linearise swing.yaml --sweep pus=0:1:0.1
err_has "did you mean 'push'?"
run 3 linearise swing.yaml --sweep m=0:1:0.5
run 2 linearise swing.yaml --sweep l=1:2:1 --step 0.1
err_has '--step does not go with --sweep'
run 2 linearise swing.yaml --plot x.svg
err_has '--plot goes with --sweep'
run 2 linearise swing.yaml --step -1
err_has "--step is positive, not '-1'"
run 2 linearise swing.yaml --step x
err_has "--step takes a number, not 'x'"
run 2 linearise swing.yaml --method rk4
err_has 'linearise takes no --method'
run 2 simulate swing.yaml --reduce
err_has 'simulate takes no --reduce'
run 4 linearise swing.yaml -o no/such/folder.mat
run 4 linearise swing.yaml --sweep l=1:2:1 -o no/such/folder.svg
run 2 linearise
no_temporaries

# ---- reports --------------------------------------------------------------------------------

mkdir -p reports/temporary && cp swing.yaml part.yaml reports && cd reports || exit 2
export TMPDIR=$PWD/temporary
printf '<html><body><!--data--></body></html>' >page.html
# part FILE ID: what stands in an element of a report
part() { sed -n "s/.*id=\"$2\">//;T;:next;/<\\/script>/{s/<\\/script>.*//;p;q};p;n;b next" "$1"; }

run 0 simulate swing.yaml --case pushed --report run.html --page page.html
no_data
err_has 'report in run.html: '
check test ! -e run.csv
part run.html report >report.json
check is_json report.json
check grep -q '"title": "swing"' report.json
check test -z "$(ls temporary)" # where the rows were
run 0 simulate swing.yaml --case pushed --report run.html --page page.html -q -o run.csv --set m=3 --set 'l=if(1 < 2, 0.4, 1)'
no_data
silent
check grep -q '"case": "pushed"' run.json
check grep -q '"formula": "if(1 < 2, 0.4, 1)"' run.json
check grep -q "\"model_sha256\": \"$(sha256sum swing.yaml | cut -c 1-64)\"" run.json
cp run.html first.html
run 0 view run.csv --model swing.yaml --page page.html -o run.html
no_data
err_has 'report in run.html: '
check cmp -s first.html run.html # the same case and settings, taken from run.json
run 0 simulate swing.yaml --case pushed -q --report other.html --page page.html -o -
check cmp -s out <("$trundle" simulate swing.yaml --case pushed -q)
check is_json <(part other.html report)
TMPDIR=$PWD/nowhere run 4 simulate swing.yaml --report unused.html --page page.html
err_has "cannot make '$PWD/nowhere/trundle_"
check test ! -e unused.html
run 0 view run.csv --model swing.yaml --page page.html --set m=5 -q -o other.html
silent
part other.html report >report.json
check grep -A 1 -q '"name": "m"' report.json
check grep -q '"formula": "5"' report.json
run 0 view run.csv --model swing.yaml --page page.html -o - -q
check grep -q 'id="frames"' out

# what does not fit, and what is not there
sed 's/^name: swing/name: swung/' swing.yaml >swung.yaml
run 0 view run.csv --model swung.yaml --page page.html -q -o other.html
err_is "warning: 'swung.yaml' has changed since the run was made"
cp run.csv alone.csv
run 0 view alone.csv --model swing.yaml --page page.html -o other.html
err_has "there is no certificate beside 'alone.csv'"
check grep -q '"certificate": null' other.html
rm -f other.html
cut -d, -f 1,3- run.csv >few.csv
run 3 view few.csv --model swing.yaml --page page.html -o other.html
err_is "few.csv: the run has no column '$(head -n 1 run.csv | cut -d, -f 2)': it is not one of this model"
head -n 1 run.csv >none.csv
run 3 view none.csv --model swing.yaml --page page.html -o other.html
err_is 'none.csv: the run has no rows'
printf 't,a\n1,b\n' >text.csv
run 3 view text.csv --model swing.yaml --page page.html -o other.html
err_has "text.csv:2"
err_has "'b' in column 'a' is no number"
run 4 view missing.csv --model swing.yaml --page page.html -o other.html
err_has "cannot read 'missing.csv'"
run 4 view run.csv --model missing.yaml --page page.html -o other.html
run 4 view run.csv --model swing.yaml --page missing.html -o other.html
run 3 view run.csv --model swing.yaml --page swing.yaml -o other.html
err_has 'the page has no mark'
echo '{' >alone.json
run 3 view alone.csv --model swing.yaml --page page.html -o other.html
err_has "'alone.json' is not a certificate"
run 4 view run.csv --model swing.yaml --page page.html -o no/such/folder.html
err_has "cannot write 'no/such/folder.html'"
run 4 simulate swing.yaml --report no/such/folder.html --page page.html -o unused.csv
check test ! -e unused.csv # it is found before the run
run 0 view --help
out_has '--model MODEL'
run 2 view run.csv -o other.html
err_has 'which model?'
run 2 view --model swing.yaml -o other.html
err_has 'which run?'
run 2 view run.csv more.csv --model swing.yaml -o other.html
err_has "one run at a time: 'run.csv' and 'more.csv'"
run 2 view run.csv --model swing.yaml
err_has 'where to?'
run 2 view run.csv --model swing.yaml --end 5 -o other.html
err_is 'trundle: view takes no --end'
run 2 check swing.yaml --report other.html
err_is 'trundle: check takes no --report'
run 2 simulate swing.yaml --model swing.yaml
check test ! -e other.html
no_temporaries

# a run that stops on its way has a report of what it reached
run 3 simulate part.yaml --every 0.25 -q --report part.html --page page.html
part part.html report >report.json
check is_json report.json
check grep -q '"rows": 5,' report.json
check grep -q '"failure": "the motions contradict' report.json
check test -z "$(ls temporary)"

what='an interrupted run with a report'
"$trundle" simulate swing.yaml --end 1e6 --every 0.001 --report cut.html --page page.html >out 2>err &
stopping=$!
sleep 0.5
kill -s INT $stopping
wait $stopping
check test $? -eq 130
no_data
err_has 'report in cut.html: '
part cut.html report >report.json
check grep -q '"interrupted": true' report.json
check test -z "$(ls temporary)"

case "$has_page" in
yes)
    run 0 simulate swing.yaml --case pushed --report run.html
    check test "$(wc -c <run.html)" -gt 100
    check is_json <(part run.html report)
    ;;
no)
    run 1 simulate swing.yaml --case pushed --report none.html
    err_has 'this build has no page for reports'
    check test ! -e none.html
    ;;
esac

cd .. || exit 2
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
