# SPDX-License-Identifier: Apache-2.0
# What tests of the command line share, to be sourced by them: a folder of their own to work in, words
# for what should be, and a model. They are called with the program, TRUNDLE, and what else they need.
set -u
[ $# -ge 1 ] && [ -x "$1" ] || { echo "usage: $0 TRUNDLE" >&2; exit 2; }
trundle=$(realpath "$1")
# shellcheck disable=SC2034
reported=$(dirname "$(realpath "$0")")/reported # models that once misbehaved
work=$(mktemp -d "${TMPDIR:-/tmp}/trundle_cli.XXXXXX") && cd "$work" || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
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
# in_work PROCESS: waits until a program in the background, where shells ignore SIGINT, takes it, which
# is from where it can be stopped on
in_work() {
    local taken
    for _ in $(seq 600); do
        taken=$(awk '/^SigCgt/ { print $2 }' "/proc/$1/status" 2>/dev/null)
        case $taken in '' | *[2367abef]) return ;; esac
        sleep 0.05
    done
}
# the_end: how it went
the_end() {
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ]
}
# column NUMBER FILE: of a table, on one line
column() { cut -d, -f"$1" "$2" | tail -n +2 | paste -sd' '; }

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
