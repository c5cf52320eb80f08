#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: what one verb writes goes into the next one, with --with.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

# number TITLE NAME: what stands there in `out`
number() { awk -v t="$1" -v n="$2" '$1 == t && $2 == n {print $3}' out; }
# near A B E: within E of each other
near() {
    if awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN {exit !(a - b <= e && b - a <= e && a != "")}'; then
        good
    else
        bad "'$1' is not near '$2'"
    fi
}
# last NAME FILE: of a column of a run, the last number
last() {
    awk -F, -v n="$1" 'NR == 1 {for (i = 1; i <= NF; i++) if ($i == n) c = i} END {print $c}' "$2"
}

# ---- a robot stands: three commands ---------------------------------------------------------

robot=$reported/robot2.yaml
run 0 steady "$robot" --free us,ue --hold shoulder=0.7 --hold elbow=0.4 --hold left_rate=0 --hold right_rate=0 -o trim.yaml
check grep -qx 'set:' trim.yaml
check grep -q '^  us: -1.93150444904' trim.yaml
check grep -qx "# A steady motion of $robot.*" trim.yaml
check test "$(grep -c '#' trim.yaml)" = 1
check grep -qx 'guess:' trim.yaml
run 0 lqr "$robot" --with trim.yaml --inputs uL,uR,us,ue --q way=20,pitch=10 -o gains.yaml
run 0 simulate "$robot" --with trim.yaml --with gains.yaml -o stands.csv
near "$(last pitch stands.csv)" "$(sed -n 2p stands.csv | cut -d, -f"$(head -n 1 stands.csv | tr , '\n' | grep -nx pitch | cut -d: -f1)")" 1e-9
# it stands there, however it began, and only with both
echo 'initial: {shoulder_rate: 1}' >push.yaml
run 0 simulate "$robot" --with trim.yaml --with gains.yaml --with push.yaml --end 20 -o pushed.csv
near "$(last shoulder pushed.csv)" 0.7 1e-6
near "$(last pitch pushed.csv)" "$(last pitch stands.csv)" 1e-6
run 0 simulate "$robot" --with trim.yaml --with push.yaml --end 2 -o falls.csv
check awk -v p="$(last pitch falls.csv)" 'BEGIN {exit !(p > 0.5 || p < -0.5)}'

# ---- what wins ------------------------------------------------------------------------------

echo 'set: {m: 3, push: 4}' >a.yaml
printf 'set:\n  m: 5\nroles: {cart: {torque: 2*push}}\nend: 2\n' >b.yaml
run 0 eval swing.yaml --case pushed --with a.yaml
near "$(number tau cart)" 4 0
near "$(number outputs weight)" 0.0625 0
run 0 eval swing.yaml --case pushed --with a.yaml --with b.yaml --set push=-1 -v
near "$(number tau cart)" -2 0
near "$(number outputs weight)" 0.10416666666666667 1e-15
run 0 simulate swing.yaml --with b.yaml -o swing.csv
near "$(last t swing.csv)" 2 0
run 0 check swing.yaml --with a.yaml --with b.yaml
run 0 derive swing.yaml --with a.yaml
run 0 linearise swing.yaml --with a.yaml
for verb in check derive eval simulate linearise steady lqr fit view; do
    run 0 $verb --help
    out_has '--with FILE'
done

# A run says what it was made with, so that others see the same.
check grep -q '"file": "b.yaml"' swing.json
sed 's/m: 5/m: 7/' b.yaml >b2.yaml && mv b2.yaml b.yaml # which is read no more
run 0 plot swing.csv -y angle -o swing.svg

# what was set stands in the file, and lists of words are united
run 0 steady swing.yaml --set m=3 --hold cart_rate=2 -o set.yaml
check grep -qx '  m: 3' set.yaml
run 0 lqr swing.yaml --set m=3 --inputs push -o set.yaml
check grep -qx '  m: 3' set.yaml
sed 's/^cases:/forces: {shove: {body: arm, force: "1, 0, 0"}}\n&/' swing.yaml >shoved.yaml
echo 'without: [shove]' >none.yaml
run 0 eval shoved.yaml --with none.yaml --with none.yaml
# a law that no role takes is said to be left out
silent
sed 's/cart: {torque: push}/cart: passive/; s/^cases:/forces: {shove: {body: cart, force: "push, 0, 0"}}\n&/' swing.yaml >loose.yaml
run 0 lqr loose.yaml --inputs push -q -o loose_law.yaml
err_has "the law of 'push' is only a comment in the file"
# a rate has two names, and is one
echo 'initial: {angle_rate: 0.5}' >turn.yaml
run 0 eval swing.yaml --with turn.yaml
near "$(number v angle_rate)" 0.5 0

# ---- what a start says besides, as it is where a steady motion was found ---------------------

run 0 steady "$reported/moto.yaml" --case circle --free steer_torque,thrust --hold roll=0.1 --hold speed=15 -o circle.yaml
check grep -q '^  roll: 0\.\(1\|0999999999\|1000000000\)' circle.yaml
check grep -q '^  d(frame.x): ' circle.yaml
run 0 eval "$reported/moto.yaml" --with circle.yaml -v # not of the case that it was found in
near "$(number outputs roll)" 0.1 1e-9
near "$(number vdot frame.wz)" 0 1e-9
near "$(number vdot steer_rate)" 0 1e-9
near "$(number tau steer)" "$(sed -n 's/^  steer_torque: //p' circle.yaml)" 1e-12

# ---- a trimmed, named root locus in one command ----------------------------------------------

moto=$reported/moto.yaml
run 0 linearise "$moto" --sweep v0=5:60:1 --trim -o locus.csv --plot locus.svg
for words in 'mode 1: capsize' 'modes 7, 8: wobble' 'modes 13, 14: weave' 'modes 5, 6: travel'; do
    err_has "$words"
done
err_has 'oscillatory at 45.5'
check test "$(grep -c 'not steady' err)" = 0
check test "$(wc -l <locus.csv)" = 57
# accelerations vanish at every speed
check awk -F, 'NR > 1 && ($NF > 1e-9 || $NF < 0) {bad = 1} END {exit bad}' locus.csv
for name in capsize weave wobble; do check grep -q ">$name<" locus.svg; done
check test "$(grep -c '>weave<' locus.svg)" = 3 # in the legend, and of the curves in both panels
# the same as by hand at one of them
run 0 steady "$moto" --free thrust --hold 'd(frame.x)=20' --set v0=20 --json
near "$(python3 -c 'import json; print(json.load(open("out"))["eigenvalues"][0][0])')" \
    "$(awk -F, '$1 == 20 {print $2}' locus.csv)" 1e-9
run 0 linearise "$moto" --sweep v0=5:60:5 --trim --json -q
silent
check python3 -c '
import json
locus = json.load(open("out"))
modes = {m["name"]: m["eigenvalues"] for m in locus["modes"]}
weave, wobble = (locus["eigenvalues"][-1][modes[k][0] - 1] for k in ("weave", "wobble"))
assert len(modes["capsize"]) == 1 and len(modes["weave"]) == 2, modes
assert 15 < abs(weave[1]) < 25 and 40 < abs(wobble[1]) < 60, (weave, wobble)'
# without --trim it is not steady
run 0 linearise "$moto" --sweep v0=5:60:5 -o loose.csv
err_has 'the state is not steady'
# at one state
run 0 linearise "$moto" --trim --set v0=20 --json
near "$(python3 -c 'import json; print(json.load(open("out"))["eigenvalues"][5][0])')" 0 1
check python3 -c 'import json; assert json.load(open("out"))["largest_acceleration"] < 1e-9'
run 0 linearise "$moto" --trim --set v0=20 --free thrust,steer_torque --hold roll=0.05
run 0 lqr "$robot" --trim --hold shoulder=0.7 --inputs uL,uR,us,ue --q way=20,pitch=10 -o all.yaml
run 0 simulate "$robot" --with all.yaml --with push.yaml --end 20 -o pushed.csv
near "$(last shoulder pushed.csv)" 0.7 1e-6
run 0 lqr "$robot" --trim --hold shoulder=0.7 --inputs left,right,shoulder,elbow --q way=20,pitch=10 -o joints.yaml
check test "$(grep -c '^roles:' joints.yaml)" = 1
run 0 simulate "$robot" --with joints.yaml --with push.yaml --end 20 -o pushed.csv
near "$(last shoulder pushed.csv)" 0.7 1e-6
run 2 linearise "$moto" --free thrust
err_is 'trundle: --free goes with --trim'
run 2 lqr "$robot" --inputs uL --hold shoulder=0.7
err_is 'trundle: --hold goes with --trim'
run 1 linearise "$moto" --trim --hold steer=0.3 --hold roll=1.2 --free thrust
err_has 'no steady motion near the guess'
run 2 linearise "$moto" --sweep nix=1:2:1 --trim
err_has "there is no parameter or input 'nix'"

# ---- fits -----------------------------------------------------------------------------------

printf 'trundle: 1\nparameters: {a: 1}\nbodies:\n  car: {joint: {type: prismatic, axis: "1, 0, 0", coordinate: x}, mass: 2}\ninitial: {x: 0, d(x): 1}\noutputs: {scaled: a*x}\n' >line.yaml
printf 't,scaled,x\n0,0.2,0.1\n1,4.2,2.1\n2,8.2,4.1\n' >log.csv
run 0 fit line.yaml --data log.csv --free 'a,x,d(x)' -o fit.yaml
run 0 eval line.yaml --with fit.yaml
near "$(number outputs scaled)" 0.2 1e-9
near "$(number v car_rate)$(number v x_rate)" 2 1e-9

# ---- words for people -----------------------------------------------------------------------

# five digits, noise is 0; all digits with -v, and where numbers are read
run 0 eval "$reported/moto.yaml"
out_has 'q        frame.z                  0.25794'
out_has 'q        frame.y                  0'
run 0 eval "$reported/moto.yaml" -v
check grep -qE '^q +frame\.z +0\.25793862[0-9]{6,}$' out
run 0 eval "$reported/moto.yaml" --json
check grep -qE '"frame\.z": 0\.25793862[0-9]{6,},' out
run 0 steady swing.yaml --hold cart_rate=2
out_has 'mode     0 + 6.8621i'
run 0 steady swing.yaml --hold cart_rate=2 -v
out_has ' + 6.862'
check test "$(grep -c '+ 6.8621i' out)" = 0
run 0 lqr swing.yaml --set push=0 --inputs push --with a.yaml
check test "$(awk '$1 == "gain" && length($3) > 8' out | wc -l)" = 0
run 0 linearise swing.yaml
check test "$(grep -cE '[1-9][0-9]*\.[0-9]{5}|\.0*[1-9][0-9]{5}' out)" = 0
run 0 linearise swing.yaml -v
check grep -qE '\.0*[1-9][0-9]{9}' out
run 0 linearise swing.yaml --trim --sweep m=1:3:1 -o sweep.csv
err_is 'written to sweep.csv
modes 1, 2: angle
no eigenvalue crosses the imaginary axis between m = 1 and 3'

# every verb says what it wrote, and with -q nothing
for verb in 'steady swing.yaml --hold cart_rate=2 -o w.yaml' 'lqr swing.yaml --inputs push -o w.yaml' \
    'fit line.yaml --data log.csv --free a -o w.yaml' 'linearise swing.yaml -o w.csv' \
    'simulate swing.yaml -o w.csv' 'plot w.csv -y angle -o w.svg' 'check swing.yaml -o w.txt' \
    'eval swing.yaml -o w.txt' 'derive swing.yaml -o w.txt' \
    'steady swing.yaml --hold cart_rate --sweep m=1:2:0.5 -o w.csv'; do
    # shellcheck disable=SC2086
    run 0 $verb
    err_has "written to ${verb##* }"
    # shellcheck disable=SC2086
    run 0 $verb -q
    silent
    no_data
done

# on a terminal a run without -o says what it did, and shows no rows
at_terminal() {
    python3 - "$trundle" "$@" <<'END' | tr -d '\r'
import os, pty, sys
pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 4096))
END
}
what='trundle simulate at a terminal'
at_terminal simulate swing.yaml >out
out_has 'reached t = 1 s: 5 rows'
out_has 'no rows are shown on a terminal: -o FILE.csv writes them, -o - shows them'
check test "$(grep -c '^0.25,' out)" = 0
at_terminal simulate swing.yaml -o - >out
check grep -q '0.25,-0.0422892' out
run 0 simulate swing.yaml -q -o swing.csv # into a file or a pipe rows go as before
run 0 simulate swing.yaml
check grep -q '^0.25,' out
what='trundle plot at a terminal'
at_terminal plot swing.csv >out
out_has 'trundle: where to? -o FILE.svg writes the picture, -o - shows its text; usage: trundle plot RUN.csv'
check test "$(grep -c '<svg' out)" = 0
at_terminal plot swing.csv -o - >out
check test "$(grep -c '<svg' out)" = 1
run 0 plot swing.csv
check test "$(grep -c '<svg' out)" = 1

# what H means stands before it
run 0 check "$reported/moto.yaml"
out_has 'constraint rows, 4 independent: they leave 8 velocities free, which forces change: dynamics (H != 0, lambda_stat = 0)'

# ---- what is wrong --------------------------------------------------------------------------

printf 'set:\n  nix: 1\n' >bad.yaml
run 3 check swing.yaml --with a.yaml --with bad.yaml
err_is "bad.yaml:2:3: there is no parameter or input 'nix'; there are 'm', 'l', 'I', 'push'
    nix: 1
    ^"
echo 'roles: {cart: {torque: 1 + nil}}' >bad.yaml
run 3 simulate swing.yaml --with bad.yaml
err_is "bad.yaml:1:28: unknown name 'nil'; there are 't', 'm', 'l', 'I', 'push', 'cart', 'cart_rate', 'angle', 'angle_rate', 'height', 'weight'
  roles: {cart: {torque: 1 + nil}}
                             ^"
run 3 check swing.yaml --with swing.yaml
err_is "swing.yaml:1:1: 'trundle' is a key of 'model', not of 'case'; there are 'set', 'initial', 'guess', 'roles', 'inputs', 'controllers', 'reactions', 'without', 'hold', 'order', 'end', 'every', 'method', 'step', 'rtol', 'atol', ...
  trundle: 1
  ^"
run 4 check swing.yaml --with missing.yaml
err_is "trundle: cannot read 'missing.yaml': No such file or directory"
run 2 check swing.yaml --with
err_is 'trundle: --with needs a value'
run 2 steady "$robot" --with trim.yaml -o trim.yaml
err_is "trundle: 'trim.yaml' would be overwritten: write to another file"
run 2 plot swing.csv --with a.yaml
err_is 'trundle: plot takes no --with'
run 3 fit line.yaml --with bad.yaml --data log.csv --free a
err_has 'bad.yaml:1:'

the_end
