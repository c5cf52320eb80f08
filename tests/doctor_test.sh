#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `trundle check` says about models that are not what their authors meant, and about some that
# are, word for word.    doctor_test.sh TRUNDLE ROOT [golden]
set -u
trundle=$1 root=$2 rewrite=${3:-}
bad=0

# examine NAME MODEL OPTIONS...
examine() {
    local name=$1 golden=$root/tests/doctor/$1.txt
    shift
    local said
    said=$(cd "$root" && "$trundle" check "$@" 2>&1; echo "exit $?")
    said=$(grep -v -e '"seconds"' -e '"nodes"' -e '"rhs' <<<"$said")
    if [ "$rewrite" = golden ]; then
        printf '%s\n' "$said" >"$golden"
    elif [ "$said" != "$(cat "$golden")" ]; then
        echo "FAILED: $name"
        diff <(printf '%s\n' "$said") "$golden"
        bad=1
    fi
}

for model in straight_snake snake_at_rest two_axles three_axles contradiction truss overdriven \
    tripod four_feet; do
    examine $model tests/doctor/$model.yaml
done
for case in straight turned; do
    examine parallel_axles_$case tests/doctor/parallel_axles.yaml --case $case
done
for case in straight turned clamped slipping; do
    examine trapezoid_$case tests/doctor/trapezoid.yaml --case $case
done
for case in aligned askew; do
    examine swerve_$case tests/doctor/swerve.yaml --case $case
done
for case in beside twice inside outside; do
    examine wheel_in_hollow_$case tests/doctor/wheel_in_hollow.yaml --case $case
done
examine wheel_in_hollow_json tests/doctor/wheel_in_hollow.yaml --case beside --json
examine flat models/parallelogram.yaml --case flat
examine flat_json models/parallelogram.yaml --case flat --json --set m_b=3
for model in differential_drive mobile_pendulum bricard snakeboard castor four_bar tricycle cart \
    differential_drive_3d segway car_ackermann bicycle_actuated andrews slider_crank stewart \
    delta car_linkage hopping_wheel stick_slip; do
    examine $model models/$model.yaml
done
for case in circle third third_least torques; do
    examine five_bar_$case models/five_bar.yaml --case $case
done
examine out_of_reach models/slider_crank.yaml --set offset=0.3
examine bricard_turn models/bricard.yaml --case turn
examine sk8o models/sk8o.yaml
examine sk8o_locked models/sk8o.yaml --case locked
examine sk8o_level models/sk8o.yaml --case locked --set step=0
examine car_trapezoid models/car_trapezoid.yaml
examine car_trapezoid_locked models/car_trapezoid.yaml --case ideal
examine car_trapezoid_straight models/car_trapezoid.yaml --case ideal --set steer0=0
exit $bad
