#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: inertias from recordings.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

sed 's/^outputs:/outputs:\n  a_cart: d(cart_rate)\n  a_angle: d(d(angle))/' swing.yaml >logged.yaml
sed -i 's/{torque: push}/{torque: push + 5*sin(7*t)}/' logged.yaml
run 0 simulate logged.yaml --end 2 --every 0.01 -o run.csv -q
run 0 simulate logged.yaml --end 3 --every 0.01 --set push=1 -o more.csv -q

# ---- what is found --------------------------------------------------------------------------

run 0 fit logged.yaml --inverse --data run.csv
silent
out_has 'data     201 samples of 1 recording, 402 equations'
check grep -qE 'base     m\(cart\) \+ m\(arm\) = (4|4\.0000000|3\.9999999)' out
out_has 'base     mz(arm) = -0.'
check grep -q '^untold   mx(cart)' out
run 0 fit logged.yaml --inverse --data run.csv --data more.csv --json
silent
check is_json out
keys_are 'samples equations made_velocities made_accelerations moved misfit_model misfit_least misfit bounds_active base untold bodies'
check grep -q '"samples": 502' out
check grep -q '"made_accelerations": false' out
check grep -q '"bounds_active": false' out
run 0 fit swing.yaml --inverse --data more.csv --free arm --set 'push=1 + 5*sin(7*t)'
out_has 'data     accelerations are slopes of splines through velocities'
check test "$(grep -c '^body' out)" -eq 1

# What is written reads back as it is.
run 0 fit logged.yaml --inverse --data run.csv -o fit.yaml
err_is 'written to fit.yaml'
out_has 'body     arm: mass '
check grep -q '^#   m(cart) + m(arm) = ' fit.yaml
check grep -q '^bodies:$' fit.yaml
check grep -q '^    inertia: {xx: ' fit.yaml
mass=$(sed -n '/^  arm:/,$s/^    mass: //p' fit.yaml)
com=$(sed -n '/^  arm:/,$s/^    com: //p' fit.yaml)
moments=$(sed -n '/^  arm:/,$s/^    inertia: //p' fit.yaml)
sed "/^  arm:/,/inertia/{s/mass: m/mass: $mass/;s|com: .*|com: $com|;s|inertia: .*|inertia: $moments|}" \
    logged.yaml >again.yaml
run 0 fit again.yaml --inverse --data run.csv --json
check grep -q "\"mass\": $mass," out
run 0 fit logged.yaml --inverse --data run.csv -o fit.json
no_data
check is_json fit.json
run 0 fit logged.yaml --inverse --data run.csv --prior-weight 0.1
silent

# ---- what is not ----------------------------------------------------------------------------

run 2 fit logged.yaml --inverse
err_is 'trundle: which recording? usage: trundle fit MODEL --inverse --data LOG.csv'
for option in --match=x=y --columns=x --time=t --from=1 --to=2 --prior=x=1~1 --sd=x=1 --plot=x.svg; do
    name=--${option#--}
    name=${name%%=*}
    run 2 fit logged.yaml --inverse --data run.csv "$name" "${option#*=}"
    err_is "trundle: $name does not go with --inverse"
done
run 2 fit logged.yaml --data run.csv
err_has 'trundle: what is to be found? --free names parameters'
run 2 fit logged.yaml --inverse --data run.csv --free arn
err_is "trundle: there is no body 'arn'; did you mean 'arm'?"
run 2 fit logged.yaml --inverse --data run.csv --prior-weight much
err_is "trundle: --prior-weight takes a number, not 'much'"
run 2 fit logged.yaml --inverse --data run.csv --prior-weight -1
err_is 'trundle: the weight of the prior must not be negative'
run 2 fit logged.yaml --inverse --data run.csv -o run.csv
err_has "would be overwritten"
run 4 fit logged.yaml --inverse --data nothing.csv
err_has "nothing.csv"
no_data
cut -d, -f1-5 run.csv >less.csv
run 3 fit logged.yaml --inverse --data less.csv
err_is "trundle: 'less.csv' has no column 'tau.cart', the torque of what is driven; there are 't', 'cart', 'angle', 'cart_rate', 'angle_rate'"
sed '5s/^[^,]*/soon/' run.csv >words.csv
run 3 fit logged.yaml --inverse --data words.csv
err_is "trundle: words.csv:5: 'soon' in column 't' is no number"
sed '7s/^[^,]*/0/' run.csv >back.csv
run 3 fit logged.yaml --inverse --data back.csv
err_is 'trundle: back.csv:7: times must ascend'
sed '3s/^/\n\n/' back.csv >blank.csv
run 3 fit logged.yaml --inverse --data blank.csv
err_is 'trundle: blank.csv:9: times must ascend'
head -n 3 run.csv >short.csv
run 3 fit logged.yaml --inverse --data short.csv
err_is "trundle: 'short.csv' has 2 rows: at least 4 are needed"
the_end
