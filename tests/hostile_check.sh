#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every model that once misbehaved, and some that are large on purpose, through every verb, within
# limits of time and memory: each is done or refused with words, and nothing of it acts on a terminal.
#   tests/hostile_check.sh TRUNDLE
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

# within SECONDS KILOBYTES ARGUMENTS...: ends by itself, with an exit code of its own
within() {
    local seconds=$1 kilobytes=$2 status
    shift 2
    what="trundle $*"
    (ulimit -v "$kilobytes" && exec timeout -s KILL "$seconds" "$trundle" "$@") >out 2>err </dev/null
    status=$?
    if [ "$status" -le 4 ]; then good; else bad "exit $status"; fi
    [ "$status" -eq 0 ] || check test -s err
    check test "$(cat out err | grep -caP '[\x00-\x08\x0b-\x1f\x7f]')" -eq 0
}

# ---- what was reported ----------------------------------------------------------------------

for model in "$reported"/*.yaml "$reported"/hostile/*.yaml; do
    for verb in check derive eval linearise steady; do within 60 2000000 "$verb" "$model"; done
    within 60 2000000 simulate "$model" --end 0.2 -o run.csv
done

# ---- large ones -----------------------------------------------------------------------------

# many COUNT LINE: LINE for 0, 1, ... with # for the number and @ for that of the one before
many() { awk -v n="$1" -v line="$2" 'BEGIN { for (i = 0; i < n; i++) {
    s = line; gsub(/#/, i, s); gsub(/@/, i ? i - 1 : 0, s); print s } }'; }
body='{joint: {type: revolute, axis: "0, 1, 0", at: "0, 0, 1"}, mass: 1, com: "0, 0, 1"}'
{ printf 'trundle: 1\nparameters:\n'; many 50000 '  p#: 1'; printf 'bodies:\n  a: %s\n' "$body"; } >parameters.yaml
{ printf 'trundle: 1\nparameters:\n  p0: 1\n'; many 50000 '  q#: p@0 + 1' | sed 's/p@0/p0/'; printf 'bodies:\n  a: %s\n' "$body"; } >sums.yaml
{ printf 'trundle: 1\nbodies:\n'; many 30000 "  b#: $body"; } >star.yaml
{ printf 'trundle: 1\nbodies:\n  b: %s\n' "$body"; many 30000 "  b#: {parent: b@, ${body#\{}" | sed '1s/parent: b0/parent: b/'; } >chain.yaml
{ printf 'trundle: 1\nbodies:\n  a: %s\nloops:\n' "$body"; many 30000 '  l#: {body: a, to: "0, 0, #"}'; } >loops.yaml
{ printf 'trundle: 1\nbodies:\n  a: %s\noutputs:\n' "$body"; many 30000 '  o#: a + #'; } >outputs.yaml
{ printf 'trundle: 1\nbodies:\n  a: %s\ninitial:\n' "$body"; many 30000 '  a + #: 0'; } >initial.yaml
for model in parameters sums outputs loops initial; do within 20 1000000 check $model.yaml; done
for model in star chain; do within 120 2000000 check $model.yaml; done

the_end
