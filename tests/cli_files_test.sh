#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: files that a model may name, files that must not be destroyed, a run
# and its certificate, and what is left when a signal comes.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

# ---- files that a model names ---------------------------------------------------------------

mkdir -p models/inner other
printf 'x,y,z,m,ux1,uy1,uz1\n1,0,0,2,0,1,0\n' >models/nodes.csv
printf 'k1,m1\n50,3\n' >models/modes.csv
cp models/nodes.csv models/inner
cp models/nodes.csv other
# mast NODES: a model whose table of nodes has that name
mast() {
    printf 'trundle: 1\nbodies:\n  mast:\n    modal: {nodes: "%s", modes: modes.csv}\n' "$1" >models/mast.yaml
}
# refused STATUS NODES WORDS: at its place in the model
refused() {
    mast "$2"
    run "$1" check models/mast.yaml
    no_data
    check grep -qF -- "'$2'$3" err
}
ln -s inner/nodes.csv models/inside.csv
for name in nodes.csv ./nodes.csv inner/nodes.csv inner//nodes.csv inside.csv; do
    mast "$name"
    run 0 check models/mast.yaml
    what="beside it: $name"
    (cd models && "$trundle" check mast.yaml) >out 2>err
    check test $? -eq 0
done
ln -s ../other/nodes.csv models/link.csv
ln -s "$work/other" models/folder
ln -s /etc/passwd models/passwd
outside=(link.csv folder/nodes.csv ../other/nodes.csv "$work/other/nodes.csv")
for name in "${outside[@]}" passwd /etc/passwd .. inner/../nodes.csv /dev/zero; do
    refused 3 "$name" ' is not in the folder of the model: --allow-files DIR allows another'
done
check grep -q '^models/mast.yaml:4:21: ' err
for name in "${outside[@]}" inner/../nodes.csv; do
    mast "$name"
    run 0 check models/mast.yaml --allow-files models --allow-files=other
done
mast link.csv
for verb in check derive eval simulate linearise; do
    run 0 $verb models/mast.yaml --allow-files .
    run 3 $verb models/mast.yaml --allow-files models/inner
done 2>/dev/null
mast /etc/passwd
run 3 check models/mast.yaml --allow-files other
err_has "'/etc/passwd' is not in the folder of the model, nor in one that --allow-files allows"
run 4 check models/mast.yaml --allow-files nowhere
err_has "cannot read 'nowhere': No such file or directory"
run 2 plot x.csv --allow-files other
err_is 'trundle: plot takes no --allow-files'

# What is no regular file is not opened; what is no table is not shown.
mkfifo models/fifo
refused 4 fifo ': it is no regular file'
refused 4 inner ': it is no regular file'
refused 4 nothing.csv ': No such file or directory'
truncate -s 300M models/large.csv
refused 4 large.csv ': it is larger than the limit of 268435456 bytes'
rm models/large.csv
printf 'root:x:hidden\nsecret:y:1\n' >models/words
printf 'x,y,z,m,ux1,uy1,uz1\n1,0,secret,2,0,1,0\n' >models/field.csv
printf 'secret\0\n' >models/bytes
: >models/empty
for name in words field.csv bytes empty; do
    mast $name
    run 3 check models/mast.yaml
    check test "$(grep -c 'secret\|hidden\|root' err)" -eq 0
done
refused 3 field.csv ', line 2: column 3 is no number'
refused 3 bytes ' is no table of numbers'
what='a model from a pipe'
mast nodes.csv
"$trundle" check /dev/stdin <models/mast.yaml >out 2>err
check test $? -eq 3
err_has "'nodes.csv' stands beside the model, which came through a pipe"

# ---- nothing that is read is destroyed ------------------------------------------------------

# kept ARGUMENTS...: refused before any work, and all files stay what they are
kept() {
    find . -type f ! -name out ! -name err -exec sha256sum {} + | sort >before
    run 2 "$@"
    no_data
    find . -type f ! -name out ! -name err ! -name before -exec sha256sum {} + | sort >after
    check test "$(grep -v './after$\|./before$' after)" = "$(grep -v './after$\|./before$' before)"
}
cp swing.yaml x.json
kept simulate x.json -o x.csv
err_is "trundle: 'x.json' would be overwritten by the certificate of 'x.csv': write to another file"
kept simulate ./x.json -o "$work/x.mat"
ln -s x.csv x_link.csv
ln swing.yaml hard.yaml
ln -s swing.yaml soft.yaml
for name in hard.yaml soft.yaml "$work/swing.yaml" ./swing.yaml; do
    kept derive swing.yaml -o "$name"
    err_is "trundle: 'swing.yaml' would be overwritten: write to another file"
done
printf '<html><body><!--data--></body></html>' >page.html
kept simulate swing.yaml --page page.html --report page.html
kept simulate swing.yaml --page page.html -o new.csv --report new.json
err_is "trundle: report and certificate cannot both go to 'new.json'"
kept simulate swing.yaml --page page.html -o new.csv --report ./new.csv
err_is "trundle: rows and report cannot both go to './new.csv'"
ln -s new.csv dangling.csv
kept simulate swing.yaml --page page.html -o new.csv --report dangling.csv
kept simulate swing.yaml --page page.html -o - --report /dev/stdout
kept linearise swing.yaml --sweep l=1:2:1 -o both.svg --plot both.svg
err_is "trundle: results and picture cannot both go to 'both.svg'"
run 0 simulate swing.yaml -q -o run.csv
cp run.csv copy.csv
for name in run.csv run.json; do
    kept plot copy.csv run.csv -o $name
    kept view run.csv --model swing.yaml --page page.html -o $name
    err_is "trundle: '$name' would be overwritten: write to another file"
done
kept view run.csv --model swing.yaml --page page.html -o swing.yaml
mast nodes.csv
kept simulate models/mast.yaml -o models/nodes.csv
err_has "models/nodes.csv' would be overwritten: write to another file"
kept derive models/mast.yaml -o models/modes.csv
what='standard output is the model'
cp swing.yaml self.yaml
"$trundle" check self.yaml 1<>self.yaml 2>err
check test $? -eq 2
check cmp self.yaml swing.yaml
run 0 simulate swing.yaml --page page.html -q -o /dev/null --report /dev/null

# ---- a run and its certificate --------------------------------------------------------------

run 0 simulate swing.yaml -q -o run.csv
what='the certificate has the hash of its rows'
check grep -q "\"rows_sha256\": \"$(sha256sum <run.csv | cut -d' ' -f1)\"" run.json
check grep -q "\"rows_bytes\": $(wc -c <run.csv)," run.json
check grep -q '"rows_file": "run.csv"' run.json
run 0 simulate swing.yaml -q -o run.mat
check grep -q "\"rows_sha256\": \"$(sha256sum <run.mat | cut -d' ' -f1)\"" run.json
run 0 simulate swing.yaml -q -o run.csv
run 0 view run.csv --model swing.yaml --page page.html -o view.html
run 0 plot run.csv -y angle -o plot.svg
err_is 'written to plot.svg'
cp run.json old.json
run 0 simulate swing.yaml -q --set l=0.7 -o run.csv
cp old.json run.json # as a crash between two renames would leave it
words="'run.csv' and the certificate beside it are not of one run: make the run again, or take the .json file away"
run 3 view run.csv --model swing.yaml --page page.html -o other.html
err_is "run.csv: $words"
check test ! -e other.html
run 0 plot run.csv -y angle -o plot.svg
err_is "warning: $words
written to plot.svg"
rm run.json
run 0 plot run.csv -y angle -o plot.svg
err_is 'written to plot.svg'
run 0 view run.csv --model swing.yaml --page page.html -o view.html
# Neither is replaced when one cannot be.
echo old >both.csv
mkdir both.json
run 4 simulate swing.yaml -q -o both.csv
err_has "cannot write 'both.json'"
check test "$(cat both.csv)" = old
no_temporaries
if [ -w /dev/full ]; then
    run 0 simulate swing.yaml -q -o run.csv
    cp run.csv old.csv && cp run.json old.json
    what='a disk that is full'
    (ulimit -f 8 && "$trundle" simulate swing.yaml -q --every 1e-4 -o run.csv) >out 2>err
    check test $? -eq 4
    err_has "cannot write 'run.csv': File too large"
    check cmp run.csv old.csv
    check cmp run.json old.json
    no_temporaries
fi

# ---- descriptors that are closed ------------------------------------------------------------

cp "$reported/hostile/friction.yaml" .
what='stderr closed'
"$trundle" simulate friction.yaml --end 3 -o r.csv 2>&-
check test "$(head -c 2 r.csv)" = t,
check test "$(grep -c 'warning\|reached\|written' r.csv)" -eq 0
"$trundle" simulate friction.yaml --end 3 -o s.csv 2>err
check cmp r.csv s.csv
for closed in '0<&-' '0<&- 1>&- 2>&-' '1>&- 2>&-'; do
    what="closed: $closed"
    rm -f r.csv r.json
    eval "\"\$trundle\" simulate friction.yaml --end 3 -o r.csv $closed" 2>/dev/null >out
    check cmp r.csv s.csv
done
what='nowhere to write to'
"$trundle" check swing.yaml >&- 2>err
check test $? -eq 4
err_has "cannot write '-'"

# ---- signals --------------------------------------------------------------------------------

# ended SIGNAL STATUS COMMAND...: while it writes
ended() {
    what="$3 ended by $1"
    local signal=$1 wanted=$2 status run
    shift 2
    "$@" >out 2>err &
    run=$!
    for _ in $(seq 100); do
        [ -n "$(find . -name 'long.csv.*.tmp' -size +0)" ] && break
        sleep 0.05
    done
    kill -s "$signal" $run
    [ "$signal" = STOP ] && kill -s KILL $run
    wait $run 2>/dev/null
    status=$?
    check test $status -eq "$wanted"
}
run_long() { exec "$trundle" simulate swing.yaml --end 1e6 --every 0.001 -o long.csv; }
signals='PIPE:141 QUIT:131 ALRM:142 USR1:138'
grep -q __asan_init "$trundle" || signals="$signals SEGV:139 ABRT:134" # which sanitizers tell of
for signal in $signals; do
    (ulimit -c 0 && ended ${signal%:*} ${signal#*:} run_long; exit $failed) || failed=$((failed + 1))
    no_temporaries
done
ended XCPU 130 run_long
check test -s long.csv
no_temporaries
what='the second signal'
rm -f long.csv long.json
mkfifo slow # nobody reads: the run is stuck in writing
# shellcheck disable=SC2217 # it holds the pipe open
sleep 100 <slow &
reader=$!
"$trundle" simulate swing.yaml -q --page page.html --end 1e6 --every 0.001 -o slow --report long.html >out 2>err &
stuck=$!
in_work $stuck
sleep 0.5
kill -s TERM $stuck
sleep 0.2
check kill -0 $stuck
kill -s TERM $stuck
wait $stuck 2>/dev/null
check test $? -eq 143
kill $reader
wait $reader 2>/dev/null
no_temporaries
what='a run that was killed is in nobody'\''s way'
ended KILL 137 run_long
check test -n "$(find . -name 'long.csv.*.tmp')"
run 0 simulate swing.yaml -q -o long.csv
check test -s long.csv

the_end
