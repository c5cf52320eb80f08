#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: poses on the ground, one and along a path, and bad input.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

cat >cart.yaml <<'END_OF_MODEL'
trundle: 1
parameters: {A: 0.05}
ground: {height: A*sin(2*x)*cos(y)}
bodies:
  cart: {joint: {type: free}, mass: 20, com: "0, 0, 0.1", inertia: {xx: 1, yy: 1, zz: 1}}
contacts:
  a: {kind: rolling, shape: ball, body: cart, at: "0.4, 0.3, 0", radius: 0.1, friction: 0.5}
  b: {kind: rolling, shape: ball, body: cart, at: "0.4, -0.3, 0", radius: 0.1}
  c: {kind: rolling, shape: ball, body: cart, at: "-0.4, 0, 0", radius: 0.1}
guess: {cart.z: 0.1}
END_OF_MODEL
settle() { # STATUS OPTIONS...
    local wanted=$1
    shift
    run "$wanted" settle cart.yaml "$@"
}
place=(--hold cart.x=0.2 --hold cart.y=0 --hold cart.yaw=0.5)

# ---- one pose -------------------------------------------------------------------------------

for way in contact residual energy; do
    settle 0 "${place[@]}" --by "$way"
    silent
    out_has 'attitude cart.yaw '
    out_has 'contact  a: at '
    out_has ' of 0.5'
    out_has 'found    tip_margin'
done
settle 0 "${place[@]}" --json -q -o pose.json
silent
check grep -q '"by": "energy"' pose.json
check grep -q '"friction_needed"' pose.json
check grep -q '"load"' pose.json
check grep -q '"lifted": \[' pose.json
settle 0 "${place[@]}" --by residual --gap vertical --weight a=3 --weight c=0.5 -o pose.txt
check grep -q 'cart.pitch' pose.txt

# first order has no forces, and touching is no matter of millimetres
settle 0 "${place[@]}" --by contact --order 1 --json
out_has '"potential": null'
check test -z "$(grep '"friction_needed": [0-9]' out)"
sed 's|  c: .*|&\n  d: {kind: rolling, shape: ball, body: cart, at: "-0.4, 0.3, 0", radius: 0.1, friction: 0.5}|' cart.yaml >four.yaml
run 0 settle four.yaml "${place[@]}" --by residual --json
out_has '"touches": false'
check test -z "$(grep '"touches": true' out)"

# all of it held: nothing is left to settle, and nothing balances
settle 0 "${place[@]}" --hold cart.z=2 --hold cart.roll=0 --hold cart.pitch=0 --json -o held.json
check grep -q '"normal": null' held.json

# a light pendulum beside stiff springs is determined: it hangs upright above what the springs give
cat >hangs.yaml <<'END_OF_MODEL'
trundle: 1
bodies:
  body: {joint: {type: free}, mass: 600, inertia: {xx: 2, yy: 3, zz: 4}}
  leg1: {parent: body, joint: {type: prismatic, axis: "0, 0, 1", at: "0.5, 0.4, 0", coordinate: s1, stiffness: 1e7}}
  leg2: {parent: body, joint: {type: prismatic, axis: "0, 0, 1", at: "0.5, -0.4, 0", coordinate: s2, stiffness: 1e7}}
  leg3: {parent: body, joint: {type: prismatic, axis: "0, 0, 1", at: "-0.5, 0, 0", coordinate: s3, stiffness: 1e7}}
  bob: {parent: body, joint: {type: revolute, axis: "0, 1, 0", at: "0, 0, 0.5", coordinate: swing}, mass: 0.01, com: "0, 0, -0.05", inertia: {xx: 1e-5, yy: 1e-5, zz: 1e-5}}
contacts:
  w1: {kind: rolling, body: leg1, shape: ball, radius: 0.2}
  w2: {kind: rolling, body: leg2, shape: ball, radius: 0.2}
  w3: {kind: rolling, body: leg3, shape: ball, radius: 0.2}
initial: {swing: 0.3}
guess: {body.z: 0.2}
END_OF_MODEL
run 0 settle hangs.yaml --hold body.x=0 --hold body.y=0 --hold body.yaw=0
out_has 'swing                    0.000147'

# ---- paths ----------------------------------------------------------------------------------

printf 'cart.x,cart.y\n0,0\n0.1,0\n0.2,0\n0.3,0.1\n' >path.csv
settle 0 --hold cart.yaw=0.5 --path path.csv -o poses.csv
err_has '4 poses, 0 without one, 0 jumps'
err_has 'written to poses.csv'
check test "$(wc -l <poses.csv)" -eq 5
check grep -q '^cart.x,cart.y,cart.z,' poses.csv
settle 0 --hold cart.yaw=0.5 --path path.csv --by contact -q -o poses.json
silent
check grep -q '"failed": \[' poses.json
settle 0 --hold cart.yaw=0.5 --path path.csv -q
out_has 'cart.x,cart.y,cart.z,'

# a row that has no pose is told, and the others come out
printf 'cart.x,cos(cart.y)\n0,0.9\n0.1,2\n0.2,0.8\n' >holes.csv
settle 1 --hold cart.yaw=0.5 --path holes.csv --set A=0.01 -o holes_out.csv
err_has 'row 2: no pose within reach'
err_has '1 of 3 rows'
check test "$(grep -c nan holes_out.csv)" -ge 1
check test "$(wc -l <holes_out.csv)" -eq 4

# as is one with a cell that holds no number
printf 'cart.x,cart.y\n0,0\n0.1,\n0.2,nan\ninf,0\n0.3,0\n' >gaps.csv
settle 1 --hold cart.yaw=0.5 --path gaps.csv -o gaps_out.csv
err_has "row 2: no number in column 'cart.y'"
err_has "row 3: no number in column 'cart.y'"
err_has "row 4: no number in column 'cart.x'"
err_has '2 poses, 3 without one'
check test "$(wc -l <gaps_out.csv)" -eq 6

# ---- bad input ------------------------------------------------------------------------------

settle 2 --by magic "${place[@]}"
err_has "there is no way to settle called 'magic'"
settle 2 --by contact --hold cart.x=0 --hold cart.y=0
err_has 'too little is held'
err_has "'cart.yaw'"
sed 's/^contacts:/gravity: 0, 0, 0\ncontacts:/' cart.yaml >floats.yaml
run 1 settle floats.yaml "${place[@]}"
err_has 'there is no gravity to settle by'
printf 'x,h\n-2,0\n-1,0.1\n0,0\n1,0.1\n2,0\n' >table.csv
sed 's/^ground:.*/tables: {h: {file: table.csv, x: x, value: h, degree: 3}}\nground: {height: h(x)}/' \
    cart.yaml >table.yaml
run 1 settle table.yaml --hold cart.x=10 --hold cart.y=0 --hold cart.yaw=0.5
err_has "the table 'h' is left"
sed '/^  [bc]:/d' cart.yaml >one.yaml
run 2 settle one.yaml --by contact "${place[@]}"
err_has "such as 'cart.pitch', 'cart.roll'"
settle 2 "${place[@]}" --hold cart.x=0.3
err_has 'too much is held'
settle 2 "${place[@]}" --by contact --hold cart.z=0.2
err_has 'too much is asked for: 3 contacts'
settle 2 --hold 'cart.x=' --hold cart.y=0
err_has '--hold'
settle 2 --hold nobody=0
err_has 'nobody'
settle 2 "${place[@]}" --gap vertical
err_has 'for --by residual'
settle 2 "${place[@]}" -o pose.yaml
err_has 'one pose is written as .txt or .json'
check test ! -e pose.yaml
settle 2 "${place[@]}" -o one.csv
err_has 'tables of poses come with --path'
settle 4 --path missing.csv
err_has 'missing.csv'
settle 2 --path path.csv -o path.csv
err_has 'would be overwritten'
printf 'cart.x,nobody\n0,0\n' >wrong.csv
settle 2 --path wrong.csv
err_has 'nobody'
printf 'cart.x,cart.y\n0,0\n0,word\n' >wrong.csv
settle 3 --path wrong.csv
err_has "wrong.csv:3: 'word' in column 'cart.y' is no number"
settle 2 --by contact --path path.csv -o none.csv # nothing holds the yaw
err_has 'too little is held'
check test -z "$(grep 'poses,' err)"
no_temporaries
the_end
