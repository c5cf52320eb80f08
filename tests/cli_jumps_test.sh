#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: formulas that jump, what is said of them, and what is refused.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

# pushed FILE FORCE: a mass that a force pushes
pushed() {
    cat >"$1" <<EOF
trundle: 1
bodies: {b: {joint: {type: prismatic, axis: "1, 0, 0", coordinate: x}, mass: 1}}
roles: {x: {torque: "$2"}}
cases: {c: {end: 10, every: 5}}
EOF
}

run 1 simulate "$reported/jump_motion.yaml" --end 2 --every 0.5 -o run.csv
err_has "the motion of 'rl' jumps from 0 to 1 at t = 1: its rate may jump, but not its place"
check test "$(column 1 run.csv)" = '0 0.5'
check is_json run.json
check grep -qF "jumps from 0 to 1 at t = 1" run.json

pushed pulse.yaml 'if(sin(t) > 0.99999999, 1e6, 0)'
run 0 simulate pulse.yaml -o run.csv
check grep -q '^10,.*,565\.6854' run.csv
check test "$(grep -c 'a formula of t jumps' run.json)" -eq 4

pushed deep.yaml 'if(sin(3e6*t) + sin(3e6*t + 3.14159) > 1, 1, 0)'
run 0 simulate deep.yaml -o run.csv
err_has 'warning: jumps in t'
err_has 'that none was missed could not be proved'
check grep -qF 'could not be proved' run.json
run 0 simulate deep.yaml -q -o run.csv
silent

pushed rub.yaml '1 - 3*if(d(x) > 0, 1, -1)'
run 0 simulate rub.yaml -o run.csv
err_has "warning: '0 < x_rate' switches to and fro at t = "
check grep -qF 'switches to and fro' run.json

# ---- jumps that nothing compares ------------------------------------------------------------

# moved FORMULA: a cart that moves so, with a pole on it
moved() {
    cat >moved.yaml <<EOF
trundle: 1
bodies:
  cart: {joint: {type: prismatic, axis: "1, 0, 0", coordinate: c, base: true}, mass: 1}
  pole: {parent: cart, joint: {type: revolute, axis: "0, 1, 0", coordinate: a}, mass: 1, com: "0, 0, -1"}
roles: {c: {motion: "$1"}}
EOF
}
for formula in 'atan2(sin(5*t), cos(5*t))' 'atan(tan(2*t)) - 2*t' 'atan2(t - 1, 0)'; do
    moved "$formula"
    run 1 simulate moved.yaml --end 2 -o moved.csv
    err_has "the motion of 'c' jumps from"
done
for formula in 'sqrt(1 + t^2)' '0.1*atan2(sin(t), 2 + cos(t))' 'hypot(1, t)' '0.1*tan(t/4)'; do
    moved "$formula"
    run 0 simulate moved.yaml --end 2 -o moved.csv
done

the_end
