#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line and model files in model files: how mistakes are shown, one flat text, and who
# notices that an included file has changed.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

mkdir models
cat >models/corner.yaml <<'EOF'
trundle: 1
parameters: {k: 20, px: 0}
bodies:
  chassis: {mass: 1}
  wheel: {parent: chassis, joint: {type: revolute, axis: "0, 1, 0", at: "px, 0, 0", coordinate: spin}, mass: k/10, inertia: {axial: 0.1, radial: 0.05}}
outputs: {fast: d(spin)}
EOF
cat >models/rover.yaml <<'EOF'
trundle: 1
bodies: {body: {joint: {type: prismatic, axis: "1, 0, 0"}, mass: 5}}
include:
  corner:
    file: corner.yaml
    bind: {chassis: body}
    set: {k: 2e1}
    each: {name: [fl, rl], px: ["max(0.5, 0.25)", -0.5]}
outputs: {p_x: body.x, p_y: body.y}
initial: {d(fl_spin): 3, d(body): 1}
EOF

# ---- what check says ------------------------------------------------------------------------

run 0 check models/rover.yaml
out_has 'included: corner.yaml as fl, rl'
run 0 check models/rover.yaml --json
out_has '"included": "corner.yaml as fl, rl"'
run 0 eval models/rover.yaml --set fl_k=3 --json
out_has '"fl_fast": 3'
run 2 eval models/rover.yaml --set fl_kk=3
err_has "there is no parameter or input 'fl_kk'; did you mean 'fl_k'?"

# ---- mistakes -------------------------------------------------------------------------------

sed 's/k\/10/k\/tan/' models/corner.yaml >models/wrong.yaml
sed 's/corner.yaml/wrong.yaml/' models/rover.yaml >models/main.yaml
run 3 check models/main.yaml
err_has "models/wrong.yaml:5:112: 'tan' is a function: write tan(...) (included by models/main.yaml:4:3 as fl)"
check grep -q '^  .*mass: k/tan' err
check test "$(sed -n 3p err | tr -d ' ')" = '^'
(cd models && "$trundle" check main.yaml 2>../err)
err_has "wrong.yaml:5:112: 'tan' is a function: write tan(...) (included by main.yaml:4:3 as fl)"
sed 's/corner.yaml/missing.yaml/' models/rover.yaml >models/main.yaml
run 4 check models/main.yaml
err_has "models/main.yaml:5:11: cannot read 'missing.yaml': No such file or directory"

# ---- paths ----------------------------------------------------------------------------------

mkdir other
cp models/corner.yaml other
ln -s ../other/corner.yaml models/link.yaml
ln -s "$work/other" models/folder
for name in ../other/corner.yaml link.yaml folder/corner.yaml "$work/other/corner.yaml"; do
    sed "s|corner.yaml|$name|" models/rover.yaml >models/main.yaml
    run 3 check models/main.yaml
    err_has "models/main.yaml:5:11: '$name' is not in the folder of the model: --allow-files DIR allows another"
    run 0 check models/main.yaml --allow-files other
done
for name in /etc/passwd /dev/zero; do
    sed "s|corner.yaml|$name|" models/rover.yaml >models/main.yaml
    run 3 check models/main.yaml
done
what='a pipe'
"$trundle" check /dev/stdin <models/rover.yaml >out 2>err
check test $? -eq 3
err_has 'which came through a pipe'

# ---- one file -------------------------------------------------------------------------------

run 0 check models/rover.yaml --expand -o flat.yaml
run 0 check models/rover.yaml --expand
check cmp -s out flat.yaml
out_has '# With all that it includes: corner.yaml as fl, rl'
out_has 'fl_px: max(0.5, 0.25)'
run 0 check flat.yaml --expand
check cmp -s out <(tail -n +2 flat.yaml)
for case in eval derive; do
    run 0 $case models/rover.yaml --json
    grep -v -e '"seconds"' -e '"included"' out >first
    run 0 $case flat.yaml --json
    grep -v -e '"seconds"' -e '"included"' out >second
    check cmp -s first second
done
run 0 simulate models/rover.yaml --end 1 -q -o run.csv
run 0 simulate flat.yaml --end 1 -q -o flat.csv
check cmp -s run.csv flat.csv
run 2 check models/rover.yaml --expand --set fl_k=3
err_has '--expand is of the model as it stands'
cp models/corner.yaml before.yaml
run 2 check models/rover.yaml --expand -o models/corner.yaml
err_has "corner.yaml' would be overwritten: write to another file"
run 2 simulate models/rover.yaml --end 1 -o models/corner.yaml
check cmp -s models/corner.yaml before.yaml

# ---- changes --------------------------------------------------------------------------------

if [ "${2:-no}" = yes ]; then
    run 0 view run.csv --model models/rover.yaml -o run.html
    silent_but_written=$(grep -c warning err)
    check test "$silent_but_written" -eq 0
    sed 's/0.05/0.06/' before.yaml >models/corner.yaml
    run 0 view run.csv --model models/rover.yaml -o run.html
    err_has "warning: 'models/rover.yaml' has changed since the run was made"
    cp before.yaml models/corner.yaml
fi
run 0 simulate models/rover.yaml --end 1 -q -o again.csv
grep '"model_sha256"' run.json >first
grep '"model_sha256"' again.json >second
check cmp -s first second
sed 's/0.05/0.06/' before.yaml >models/corner.yaml
run 0 simulate models/rover.yaml --end 1 -q -o again.csv
grep '"model_sha256"' again.json >second
check test -s second
if cmp -s first second; then bad 'the hash has not changed'; else good; fi
run 0 plot run.csv --track p --model models/rover.yaml -o track.svg
err_has "has changed since the run was made"

the_end
