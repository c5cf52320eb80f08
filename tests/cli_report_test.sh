#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: reports.
#   tests/cli_report_test.sh TRUNDLE [HAS_PAGE]
# HAS_PAGE is yes or no: whether the program was built with the page of reports.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

# ---- reports --------------------------------------------------------------------------------

mkdir temporary
export TMPDIR=$PWD/temporary
tied part.yaml 'constraints: {tie: {position: x - y}}' \
    'roles: {x: {motion: t}, y: {motion: "t + if(t < 1, 0, (t - 1)^3)"}}'
printf '<html><body><!--data--></body></html>' >page.html
# part FILE ID: what stands in an element of a report
part() { sed -n "s/.*id=\"$2\">//;T;:next;/<\\/script>/{s/<\\/script>.*//;p;q};p;n;b next" "$1"; }

run 0 simulate swing.yaml --case pushed --report run.html --page page.html
no_data
err_has 'written to run.html: '
check test ! -e run.csv
part run.html report >report.json
check is_json report.json
check grep -q '"title": "swing"' report.json
check test -z "$(ls temporary)" # where the rows were
part run.html equations | base64 -d >equations.html
check grep -q -e '^<!DOCTYPE html>' -e 'There are no equations here: .*FLINT' equations.html
run 0 simulate swing.yaml --case pushed --report run.html --page page.html -q -o run.csv --set m=3 --set 'l=if(1 < 2, 0.4, 1)'
no_data
silent
check grep -q '"case": "pushed"' run.json
check grep -q '"formula": "if(1 < 2, 0.4, 1)"' run.json
check grep -q "\"model_sha256\": \"$(sha256sum swing.yaml | cut -c 1-64)\"" run.json
cp run.html first.html
run 0 view run.csv --model swing.yaml --page page.html -o run.html
no_data
err_has 'written to run.html: '
check cmp -s first.html run.html # the same case and settings, taken from run.json
run 0 simulate swing.yaml --case pushed -q --report other.html --page page.html -o -
check cmp -s out <("$trundle" simulate swing.yaml --case pushed -q)
check is_json <(part other.html report)
TMPDIR=$PWD/nowhere run 0 simulate swing.yaml --report kept.html --page page.html -q # no other files
check test -s kept.html
run 0 view run.csv --model swing.yaml --page page.html --set m=5 -q -o other.html
silent
part other.html report >report.json
check grep -A 1 -q '"name": "m"' report.json
check grep -q '"formula": "5"' report.json
run 0 view run.csv --model swing.yaml --page page.html -o - -q
check grep -q 'id="frames"' out

# several runs, each as it was made
run 0 simulate swing.yaml --case pushed -q -o more.csv --set m=4
run 0 view run.csv more.csv --model swing.yaml --page page.html -o both.html
err_has 'written to both.html'
part both.html report-1 >report.json
check is_json report.json
check grep -q '"formula": "4"' report.json
check grep -q '"label": "more (m = 4, l = 0.5)"' report.json
check grep -qF '"label": "run (m = 3, l = if(1 \u003c 2, 0.4, 1))"' both.html
run 4 view run.csv nowhere.csv --model swing.yaml --page page.html -o other.html
err_has "cannot read 'nowhere.csv'"
cut -d, -f 1,3- more.csv >less.csv
run 3 view run.csv less.csv --model swing.yaml --page page.html -o other.html
err_has 'trundle: less: the run has no column '

run 2 view run.csv --model part.yaml --page page.html -o other.html
err_has "that is how 'run.csv' was made: is it a run of this model?"

# meshes: one that is not there is told, one that is wrong as well, with its line
printf 'trundle: 1\nbodies: {a: {joint: {type: prismatic, axis: "1, 0, 0"}, mass: 1, shapes: {b: {type: mesh, file: a.obj}}}}\n' >mesh.yaml
run 0 simulate mesh.yaml --end 1 -o mesh.csv --report mesh.html --page page.html
err_has "warning: 'a.obj' cannot be read: drawn as a box"
check grep -q "'a.obj' cannot be read" mesh.json
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >a.obj
run 0 simulate mesh.yaml --end 1 -q -o mesh.csv --report mesh.html --page page.html
silent
check grep -q 'id="meshes"' mesh.html
printf 'v 0 0 0\nf 1 2 3\n' >a.obj
run 0 check mesh.yaml
out_has "'a.obj' (line 2: a face has a point that is not there so far) cannot be read: drawn as a box"
run 0 simulate mesh.yaml --end 1 -o mesh.csv
err_has "warning: 'a.obj' (line 2: a face has a point that is not there so far) cannot be read: drawn as a box"

# what does not fit, and what is not there
sed 's/^name: swing/name: swung/' swing.yaml >swung.yaml
run 0 view run.csv --model swung.yaml --page page.html -q -o other.html
err_is "warning: 'swung.yaml' has changed since the run was made"
cp run.csv alone.csv
run 0 view alone.csv --model swing.yaml --page page.html -o other.html
err_has "there is no certificate beside 'alone.csv'"
check grep -q '"certificate": null' other.html
rm -f other.html
cut -d, -f 1,3- run.csv >few.csv
run 3 view few.csv --model swing.yaml --page page.html -o other.html
err_is "few.csv: the run has no column '$(head -n 1 run.csv | cut -d, -f 2)': it is not one of this model"
head -n 1 run.csv >none.csv
run 3 view none.csv --model swing.yaml --page page.html -o other.html
err_is 'none.csv: the run has no rows'
printf 't,a\n1,b\n' >text.csv
run 3 view text.csv --model swing.yaml --page page.html -o other.html
err_has "text.csv:2"
err_has "'b' in column 'a' is no number"
run 4 view missing.csv --model swing.yaml --page page.html -o other.html
err_has "cannot read 'missing.csv'"
run 4 view run.csv --model missing.yaml --page page.html -o other.html
run 4 view run.csv --model swing.yaml --page missing.html -o other.html
run 3 view run.csv --model swing.yaml --page swing.yaml -o other.html
err_has 'the page has no mark'
echo '{' >alone.json
run 3 view alone.csv --model swing.yaml --page page.html -o other.html
err_has "'alone.json' is not a certificate: it is not JSON"
echo '[1, 2]' >alone.json
run 3 view alone.csv --model swing.yaml --page page.html -o other.html
err_has "'alone.json' is not a certificate: it is JSON of something else"
run 4 view run.csv --model swing.yaml --page page.html -o no/such/folder.html
err_has "cannot write 'no/such/folder.html'"
run 4 simulate swing.yaml --report no/such/folder.html --page page.html -o unused.csv
check test ! -e unused.csv # it is found before the run
run 0 view --help
out_has '--model MODEL'
rm alone.json
run 2 view alone.csv --page page.html -o other.html
err_has 'which model?'
mkdir elsewhere
cp run.csv run.json elsewhere
cd elsewhere || exit
run 2 view run.csv --page ../page.html -o other.html
err_has "which model? --model says it where there is none beside 'run.csv'"
run 0 view ../run.csv --page ../page.html -o beside.html
check cmp -s beside.html ../first.html
cd ..
run 0 view elsewhere/run.csv --page page.html -o here.html
check cmp -s here.html first.html
sed 's/"model_file": "/&..\//' run.json >elsewhere/run.json
run 2 view elsewhere/run.csv --page page.html -o other.html
err_has 'which model?'
sed 's/^name: swing/name: swung/' swing.yaml >elsewhere/swing.yaml
cp run.json elsewhere
run 0 view elsewhere/run.csv --page page.html -q -o elsewhere/other.html
err_is "warning: 'elsewhere/swing.yaml' has changed since the run was made"
run 2 view --model swing.yaml -o other.html
err_has 'which run?'
run 2 view run.csv --model swing.yaml
err_has 'where to?'
run 2 view run.csv --model swing.yaml --end 5 -o other.html
err_is 'trundle: view takes no --end'
run 2 check swing.yaml --report other.html
err_is 'trundle: check takes no --report'
run 2 simulate swing.yaml --model swing.yaml
check test ! -e other.html
no_temporaries

# a run that stops on its way has a report of what it reached
run 3 simulate part.yaml --every 0.25 -q --report part.html --page page.html
part part.html report >report.json
check is_json report.json
check grep -q '"rows": 5,' report.json
check grep -q '"failure": "the motions contradict' report.json
check test -z "$(ls temporary)"

what='an interrupted run with a report'
"$trundle" simulate swing.yaml --end 1e6 --every 0.001 --report cut.html --page page.html >out 2>err &
stopping=$!
in_work $stopping
sleep 0.5
kill -s INT $stopping
wait $stopping
check test $? -eq 130
no_data
err_has 'written to cut.html: '
part cut.html report >report.json
check grep -q '"interrupted": true' report.json
check test -z "$(ls temporary)"

case "${2:-}" in
yes)
    run 0 simulate swing.yaml --case pushed --report run.html
    check test "$(wc -c <run.html)" -gt 100
    check is_json <(part run.html report)
    ;;
no)
    run 1 simulate swing.yaml --case pushed --report none.html
    err_has 'this build has no page for reports'
    check test ! -e none.html
    ;;
esac

the_end
