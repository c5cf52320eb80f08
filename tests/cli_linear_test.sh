#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: steady motions, linear models and feedback.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

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
err_is "trundle: there is no parameter or input 'pusj'; did you mean 'push'?"
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

run 0 steady truss.yaml --sweep P=80:-80:5 -o family.csv
no_data
err_has '; folds at -62.023, 62.023' # s^3 = L b^2
err_has 'written to family.csv'
run 0 steady truss.yaml --sweep P=80:-20:5 -q
silent
run 0 steady truss.yaml --free P --hold y=0.9
out_has 'free     P '
run 0 steady truss.yaml --free P --hold y=0.9 -q -o state.yaml
check grep -qx 'set:' state.yaml
check grep -q '^  P: 27.179882' state.yaml

# stopped ARGUMENTS...: by a signal on the way
stopped() {
    what="trundle $*, stopped"
    "$trundle" "$@" >out 2>err &
    in_work $!
    sleep 0.1
    kill -s INT $!
    wait $!
    check test $? -eq 130
    no_data
    no_temporaries
}
stopped steady truss.yaml --sweep P=80:-80:0.001 -o part.json
err_has 'interrupted after '
check grep -q '"complete": false' part.json
stopped linearise truss.yaml --sweep k=300:500:0.0003 -o part.csv
err_is 'interrupted: nothing is written'
check test ! -e part.csv

# ---- linear models --------------------------------------------------------------------------

run 0 linearise swing.yaml --json
silent
check is_json out
keys_are 'states inputs outputs A B C D eigenvalues damping frequency modes displacements symmetries_removed controllable observable largest_acceleration warnings about'
run 0 linearise swing.yaml --reduce
out_has 'left out: 1 symmetry'
out_has 'change of the coordinate angle'
out_has 'the state is not steady'
run 0 linearise swing.yaml --step 0.01 --json
check grep -q '"discrete": {' out
run 0 linearise swing.yaml --step 0.01 -o lin.csv
err_is 'written to lin.csv'
no_data
check grep -q '^matrix,row,column,value$' lin.csv
check grep -q '^A,cart,cart_rate,1$' lin.csv
check grep -q '^Bd,cart_rate,push,' lin.csv
run 0 linearise swing.yaml -o lin.json
check is_json lin.json
run 0 linearise swing.yaml -o lin.mat
check grep -q 'MATLAB 5.0' lin.mat
run 0 linearise swing.yaml --sweep l=0.5:1:0.1
check test "$(head -n 1 out)" = 'l,re1,im1,re2,im2,largest_acceleration'
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
keys_are 'parameter values eigenvalues critical largest_acceleration modes'
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

the_end
