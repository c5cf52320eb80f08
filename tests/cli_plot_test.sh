#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: pictures of runs.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

# ---- plot -----------------------------------------------------------------------------------

# is_svg FILE: valid, as far as there is something to check it with
is_svg() {
    [ "$(head -c 5 "$1")" = '<svg ' ] && [ "$(tail -n 1 "$1")" = '</svg>' ] || return 1
    ! command -v xmllint >/dev/null || xmllint --noout "$1" || return 1
    ! python3 -c '' 2>/dev/null || python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$1"
}
run 0 simulate swing.yaml -q --every 0.05 -o swing.csv
run 0 plot swing.csv -y angle,angle_rate -y height -o fig.svg
no_data
err_is 'written to fig.svg'
check is_svg fig.svg
check grep -qF '<title>angle, angle_rate, height against t</title>' fig.svg
check grep -qF '>t [s]</text>' fig.svg
cp fig.svg first.svg
for stdout in '-o -' ''; do
    # shellcheck disable=SC2086
    run 0 plot swing.csv -y angle,angle_rate -y height $stdout
    silent
    check cmp out first.svg
done
run 0 plot swing.csv -o -
out_has '<title>height, weight against t</title>'
run 0 plot -x angle --from 0.2 --to=0.6 -y angle_rate --title '<a & "b">' --size 400x300 swing.csv -o fig.svg
check is_svg fig.svg
check grep -qF '>&lt;a &amp; &quot;b&quot;&gt;</text>' fig.svg
check grep -qF 'viewBox="0 0 400 300"' fig.svg
run 0 plot swing.csv -y energy.kinetic --log -o fig.svg
check is_svg fig.svg
check grep -qF '>energy.kinetic [J]</text>' fig.svg
cp swing.csv again.csv
run 0 plot swing.csv again.csv -y angle -o fig.svg
check grep -qF '>again</text>' fig.svg
printf 't,contact.rim.x,contact.rim.y,hub_x,hub_y\n0,0,0,1,0\n1,1,0,2,0\n2,2,1,3,1\n' >roll.csv
for track in '--track roll.csv' 'roll.csv --track' 'roll.csv --track rim' 'roll.csv --track=rim'; do
    # shellcheck disable=SC2086
    run 0 plot $track
    out_has '<title>track of rim</title>'
done
run 0 plot roll.csv --track hub,rim -o fig.svg
check is_svg fig.svg
check grep -qF '<title>track of hub, rim</title>' fig.svg
printf 'trundle: 1\nground: {height: 0.1*x^2}\nbodies: {a: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}\ncontacts: {rim: {kind: slide, body: a}}\n' >hill.yaml
run 0 plot roll.csv --track rim -o flat.svg
err_is 'written to flat.svg'
run 0 plot roll.csv --track rim --model hill.yaml -o fig.svg
err_is 'written to fig.svg'
check is_svg fig.svg
check grep -qF 'm apart</text>' fig.svg
check test -z "$(grep -F 'm apart' flat.svg)"
run 4 plot roll.csv --track rim --model none.yaml -o fig.svg
err_has none.yaml
run 2 plot roll.csv -y hub_x --model hill.yaml -o fig.svg
err_is 'trundle: a model has the ground below a track, and this is none'
no_temporaries

echo old >kept.svg
run 2 plot swing.csv -y angel -o kept.svg
no_data
err_is "trundle: 'swing.csv' has no column 'angel'; did you mean 'angle'?"
check test "$(cat kept.svg)" = old
run 2 plot roll.csv --track rum
err_is "trundle: 'roll.csv' has no track 'rum'; did you mean 'rim'?"
mkdir other && cp swing.csv other/swing.csv
run 0 plot swing.csv other/swing.csv -y angle -o fig.svg
check grep -qF '>other/swing.csv</text>' fig.svg # of two runs with one name, the paths
many=$(for i in $(seq 300); do echo swing.csv; done)
# shellcheck disable=SC2086
run 2 plot $many
err_has 'trundle: more than '
many=$(for i in $(seq 300); do echo -y angle; done)
# shellcheck disable=SC2086
run 2 plot swing.csv $many
err_has 'trundle: -y more than '
run 2 plot
err_is 'trundle: which run? usage: trundle plot RUN.csv... | SWEEP.db [options]'
run 2 plot swing.csv -y angle -o other.csv
err_is "trundle: pictures are SVG: 'other.csv' should end in .svg"
run 2 plot swing.csv -y angle -o swing.csv
err_is "trundle: 'swing.csv' would be overwritten: write to another file"
check cmp swing.csv again.csv
run 2 plot swing.csv -y
err_is 'trundle: -y needs a value'
run 2 plot swing.csv --case plain
err_is 'trundle: plot takes no --case'
run 2 simulate swing.yaml --track
err_is 'trundle: simulate takes no --track'
run 2 plot swing.csv --size 400
err_is "trundle: --size takes a width and a height, as 720x400, not '400'"
run 2 plot swing.csv --from soon
err_is "trundle: --from takes a number, not 'soon'"
run 2 plot swing.csv --from 5 --to 6
err_is "trundle: 'swing.csv' has no rows there: its t is from 0 to 1"
printf 'a,b\n1,2\n2,3\n' >timeless.csv
run 0 plot timeless.csv -x a --from 1.5
run 2 plot timeless.csv -x t --from 1
err_is "trundle: 'timeless.csv' has no column 't' to cut by"
printf 't\n1\n2\n' >alone.csv
run 3 plot alone.csv
err_is "trundle: 'alone.csv' has nothing to draw against its x"
printf 't,a\n0,1e22\n1,1.0000000001e22\n' >large.csv
run 0 plot large.csv -y a
out_has '>a − 1×10²² [10¹²]<'
printf 't,%s\n0,1\n1,2\n' "$(printf 'long_%.0s' $(seq 50))" >long.csv
run 0 plot long.csv -o fig.svg
check is_svg fig.svg
check grep -qF '…</text>' fig.svg # as much of the name as fits
run 3 plot swing.yaml
no_data
run 3 plot /dev/null
err_is "trundle: '/dev/null' is no table of numbers"
run 4 plot nothing.csv
err_is "trundle: cannot read 'nothing.csv': No such file or directory"
run 4 plot swing.csv -o /nowhere/fig.svg
err_has "cannot write '/nowhere/fig.svg'"
run 0 plot --help
out_has 'usage: trundle plot RUN.csv... | SWEEP.db'
out_has '--track'

the_end
