#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: models that once got no word, or a wrong one, and what is said now.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

# ---- what is not finite ---------------------------------------------------------------------

run 0 simulate "$reported/nan_output.yaml" --end 0.2 -o nan.csv
err_has "warning: 'speed' is not a number at t = 0"
check grep -qF "\"'speed' is not a number at t = 0\"" nan.json
run 0 simulate "$reported/nan_output.yaml" --end 0.2 # without a certificate it is said all the same
err_has "warning: 'speed' is not a number at t = 0"
run 0 simulate "$reported/nan_output.yaml" --end 0.2 -q
silent
run 0 simulate "$reported/nan_output.yaml" --end 0.2 --json # nothing but JSON there
check is_json err
printf '<html><body><!--data--></body></html>' >page.html
run 0 simulate "$reported/nan_output.yaml" --end 0.2 --report nan.html --page page.html
check grep -qF "'speed' is not a number at t = 0" nan.html

run 0 check "$reported/nan_output.yaml"
out_has 'not finite at the start: speed'
run 0 check "$reported/nan_output.yaml" --json
check is_json out

for verb in check eval simulate 'simulate --method rk4' 'simulate --method bdf'; do
    # shellcheck disable=SC2086
    run 1 $verb "$reported/sign_division.yaml"
    no_data
    err_has 'sign_division.yaml:26:17: '
    err_has ': roles.rl.torque is 0/0'
done

# ---- what is refused ------------------------------------------------------------------------

run 3 check "$reported/negative_friction.yaml"
err_has "negative_friction.yaml:22:43: the friction of 'cl' is negative"
sed 's/friction: -1/friction: 3 - m/' "$reported/negative_friction.yaml" >friction.yaml
run 0 check friction.yaml
run 3 check friction.yaml --set m=4
err_has "the friction of 'cl' is negative"

run 3 check "$reported/vertical_axle.yaml"
err_has "vertical_axle.yaml:22:3: the axle of the wheel 'cl' stands upright on what it rolls on"

cat >rate.yaml <<'EOF'
trundle: 1
inputs: {u: 0}
bodies:
  a: {joint: {type: prismatic, axis: "1, 0, 0", coordinate: q}, mass: 1}
roles: {q: {torque: -2*d(q - u)}}
EOF
run 3 check rate.yaml
err_has "rate.yaml:5:24: how fast the input 'u' changes is not known: leave it out of d(...)"

run 3 simulate "$reported/hostile/rods50.yaml"
err_has "singular: 'l0.distance', 'l"
run 3 check "$reported/hostile/rods50.yaml"
check grep -q '^l0.distance, l[0-9]*.distance, .* depend on each other at the start' out

# ---- options and endings --------------------------------------------------------------------

no_effect="has no effect with"
run 0 simulate swing.yaml --step 0.001 -o run.csv
err_has "warning: 'step' $no_effect erk: it is for rk4, pece, lie, rosenbrock or euler"
check grep -qF "'step' $no_effect erk" run.json
run 0 simulate swing.yaml --method rk4 --rtol 1e-6 --dense -o run.csv
err_has "warning: 'rtol' $no_effect rk4: it is for erk or bdf"
err_has "warning: 'dense' $no_effect rk4: it is for erk"
run 0 simulate swing.yaml --case pushed --method erk -o run.csv # where the case has the step
err_has "warning: 'step' $no_effect erk"
run 0 simulate swing.yaml --case pushed -o run.csv
check test "$(grep -c "$no_effect" err)" = 0
run 2 simulate swing.yaml --page page.html
err_is 'trundle: --page goes with --report'

ending() { # OPTION FILE WORDS VERB...
    local option=$1 file=$2 words=$3
    shift 3
    run 2 "$@" "$option" "$file"
    no_data
    err_is "trundle: $option '$file': the name of a file that can be written ends in $words"
    check test ! -e "$file"
}
ending -o x.xlsx '.csv .mat .npy' simulate no_such_model.yaml # before any work
ending -o a.b/x.txt '.csv .mat .npy' simulate swing.yaml
ending --report x.csv '.html .htm' simulate swing.yaml
ending --plot x.png .svg linearise swing.yaml --sweep l=1:2:1
ending -o x.xlsx '.csv .json .mat .svg .txt' linearise swing.yaml
ending -o x.xlsx '.yaml .csv .json .txt' steady swing.yaml
ending -o x.json '.yaml .yml' lqr swing.yaml --inputs push
run 0 simulate swing.yaml -q -o rows # no ending is none that means something else
check test -s rows
mkdir a.b
run 0 simulate swing.yaml -q -o a.b/rows
check test -s a.b/rows

# ---- wheels beside their axle ---------------------------------------------------------------

run 0 check "$reported/axle.yaml"
out_has '3 degrees of freedom'
run 0 simulate "$reported/axle.yaml" --end 0.5 -o axle.csv
err_has 'energy balance to '

# ---- what works -----------------------------------------------------------------------------

for model in bump rover_odo; do # they always did
    run 0 simulate "$reported/$model.yaml" --end 0.5 -o "$model.csv"
    check test "$(wc -l <"$model.csv")" = 52
    check test "$(grep -ciE 'nan|inf' "$model.csv")" = 0
    run 0 check "$reported/$model.yaml"
done

the_end
