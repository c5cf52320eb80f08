#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sweeps from outside: what is there after kills, full disks, locks and other models, and what is said.
#    cli_runs_test.sh TRUNDLE yes|no [full]
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"
full=${3:-}

cat >swing.yaml <<'END'
trundle: 1
name: swing
parameters: {l: 0.5, m: 1, c: 0.1, a0: 1}
bodies:
  bob:
    joint: {type: revolute, axis: "0, 1, 0", coordinate: a, damping: c}
    mass: m
    com: 0, 0, -l
initial: {a: a0}
outputs: {height: -l*cos(a)}
cases: {go: {end: 10, every: 0.1}}
END
vary=(--vary "m~normal(1, 0.1)" --vary "l~uniform(0.4, 0.6)" --seed 3)
keep=(--keep "final(a), max(height), mean(a_rate), low=time(a < 0)")

# ---- tables ---------------------------------------------------------------------------------

run 0 sweep swing.yaml --vary l=0.4:0.6:0.1 --vary a0=1,2 "${keep[@]}" -o grid.csv
err_has '6 runs in '
no_data
check test "$(wc -l <grid.csv)" -eq 7
check test "$(head -n 1 grid.csv)" = "run,l,a0,final(a),max(height),mean(a_rate),low,t,rows,steps,energy_error,position_error,velocity_error,chart_changes,switches,warnings,seconds,status,words"
check test "$(cut -d, -f1-3 grid.csv | tail -n +2 | tr '\n' ' ')" = "0,0.4,1 1,0.4,2 2,0.5,1 3,0.5,2 4,0.6,1 5,0.6,2 "
run 0 sweep swing.yaml --vary l=0.5 "${keep[@]}" -o one.csv
err_has '1 run in '
printf 'l,a0\n0.4,1\n0.6,2\n' >runs.csv
run 0 sweep swing.yaml --vary l=0.4:0.6:0.1 --method rk4 --on gpu "${keep[@]}" -o there.csv # or where there is none, here
err_has ' steps were made on a GPU'
run 0 sweep swing.yaml --vary l=0.4:0.6:0.1 --method rk4 "${keep[@]}" -q -o here.csv
check cmp <(cut -d , -f 1-6 there.csv) <(cut -d , -f 1-6 here.csv)
run 2 sweep swing.yaml --vary l=0.4 --method bdf --on gpu
err_has "a GPU makes steps of rk4 and lie; 'bdf' has no such steps"
run 0 sweep swing.yaml --table runs.csv "${keep[@]}" -q
silent
check test "$(cut -d, -f4-7 out | sed -n 2p)" = "$(cut -d, -f4-7 grid.csv | sed -n 2p)"
check test "$(cut -d, -f4-7 out | sed -n 3p)" = "$(cut -d, -f4-7 grid.csv | sed -n 7p)"
run 0 sweep swing.yaml --vary l=0.4,0.5 --json -o list.csv
check is_json out
silent
# a number of the start by its key, and a run that is a row with words
run 0 sweep swing.yaml --vary a=0.5,1 --keep "at(0, a)"
check test "$(cut -d, -f2-3 out | tail -n 1)" = 1,1
run 0 sweep swing.yaml --vary "m=0, 1" -o failed.csv
err_has '1 of them could not go on to the end, the first because '
check grep -q '"failed","[^"]' failed.csv
run 0 sweep swing.yaml --vary "m=-1, 1" --method rk4 -q -o failed.csv
check grep -q "\"failed\",\"'m' = -1: the mass of 'bob' is negative\"" failed.csv
# where nothing came of any run that is a failure
run 1 sweep swing.yaml --vary "m=-1, -2" -o failed.csv
err_has "trundle: none of the runs could go on to the end, the first because 'm' = -1: the mass of 'bob' is negative"
check test "$(wc -l <failed.csv)" -eq 3
run 1 sweep swing.yaml --vary "m=-1, -2" -q -o failed.db
check test "$(wc -l <err)" -eq 1
run 1 sweep swing.yaml --vary "m=-1, -2" -q -o failed.db
err_is 'trundle: none of the runs could go on to the end'
# options of something else than is done
run 2 sweep swing.yaml --vary l=0.4 --hold a=0
err_is "trundle: --hold has no effect with 'simulate': it is for 'steady', 'linearise', 'settle'"
run 2 sweep swing.yaml --vary l=0.4 --free m
err_has "--free has no effect with 'simulate'"
for option in --end=1 --every=0.1 --method=rk4 --step=1e-3 --rtol=1e-6 --atol=1e-6; do
    run 2 sweep swing.yaml --vary l=0.4 --do steady $option
    err_is "trundle: ${option%=*} has no effect with 'steady': it is for 'simulate'"
done
run 2 sweep swing.yaml --vary l=0.4 --do linearise --by level
err_has "--by has no effect with 'linearise': it is for 'settle'"
# what the start leaves open, or has as a formula
for name in d\(a\) a_rate initial.a_rate "initial.d(a)"; do
    run 2 sweep swing.yaml --vary "$name=0,1"
    err_is "trundle: '$name' is part of the state, and \`initial\` has no number for it that could be varied: write one there"
done
run 2 sweep swing.yaml --vary initial.b=0,1
err_has "there is no parameter, input or initial value 'initial.b'"
run 4 sweep swing.yaml --vary l=0.4,0.5 -o /dev/full
err_has "cannot write '/dev/full'"
# what cannot be written is told at once, and a part writes as it goes: neither works through a billion runs
endless=(sweep swing.yaml --vary "l~uniform(0.4, 0.6)" --samples 1000000000 --end 0.1 -q)
what="a table on a disk that is full"
timeout 60 "$trundle" "${endless[@]}" -o /dev/full >out 2>err
check test $? -eq 4
err_is "trundle: cannot write '/dev/full': No space left on device: of a table nothing stays, in a .db file all that was made would"
for shard in 1/1 2/2 7/100; do
    what="the first lines of a table: $shard"
    timeout 60 "$trundle" "${endless[@]}" --shard $shard 2>err | head -n 3 | cut -d, -f1 | tr '\n' ' ' >out
    check test "$(cat out)" = "run $((${shard%/*} - 1)) $((${shard%/*} - 1 + ${shard#*/})) "
done
what="a table in parts"
thin=(sweep swing.yaml --vary l=0.4:0.6:0.0005 --method rk4 --end 0.1 -q)
for i in 1 2 3; do
    run 0 "${thin[@]}" --jobs 2 --shard $i/3 -o shard$i.csv
    check sort -c -n -t, -k1,1 <(tail -n +2 shard$i.csv)
done
run 0 "${thin[@]}" -o shards.csv
but_seconds() { tail -q -n +2 "$@" | cut -d, -f1-12 | sort -n -t, -k1,1; }
check cmp <(but_seconds shard[123].csv) <(but_seconds shards.csv)
run 2 sweep swing.yaml "${vary[@]:0:4}" --seed 9007199254740993
err_is 'trundle: a seed is below 2^53, 9007199254740992'
run 2 sweep --merge a.db b.db --vary l=0.4,0.5 -o c.db
err_is 'trundle: --merge puts databases together as they are: --vary has no effect'
run 2 sweep --merge a.db b.db --set l=1 -o c.db
err_has '--set has no effect'
run 4 sweep swing.yaml --vary l=0.4,0.5 -o no/where.csv
run 2 sweep swing.yaml --vary l=0.4,0.5 -o swing.yaml
err_has 'would be overwritten'
run 2 sweep swing.yaml --table runs.csv -o runs.csv
err_has 'would be overwritten'
run 2 sweep swing.yaml --vary l=0.4,0.5 -o x.png
err_has 'results go to a .db or .csv file'
run 2 sweep swing.yaml
err_has 'what is varied?'
run 2 sweep swing.yaml "${vary[@]}" --samples 0
err_is 'trundle: --samples takes how many there are in each cell, at least one'
run 2 sweep swing.yaml --vary l=0.4,0.5 --keep "=max(a)"
err_has "--keep '=max(a)': a name stands before ="
run 2 sweep swing.yaml --table runs.csv --vary m=1
err_has '--table says what all runs have'
# quotes around numbers are quotes and no text
printf '"l","a0"\n"0.4","1"\n" 0.6 ",2\n' >quoted.csv
run 0 sweep swing.yaml --table quoted.csv "${keep[@]}" -q
check test "$(cut -d, -f1-7 out)" = "$(run 0 sweep swing.yaml --table runs.csv "${keep[@]}" -q; cut -d, -f1-7 out)"
printf 'l,a0\n0.4,"1 m"\n' >holes.csv
run 3 sweep swing.yaml --table holes.csv
err_has "holes.csv, line 2: 'a0' has no number"
printf 'l,a0\n0.4,\n' >holes.csv
run 3 sweep swing.yaml --table holes.csv
err_has "holes.csv, line 2: 'a0' has no number"
run 2 sweep swing.yaml --vary l=0.4,0.5 --record 1 -o x.csv
err_has 'rows of runs go to a .db file'

# Of more than a thousand numbers all count
names=$(seq -f p%g -s, 1100)
cat >many.yaml <<END
trundle: 1
parameters: {k: 10, ${names//,/: 0, }: 0}
bodies: {bob: {joint: {type: prismatic, axis: "0, 0, 1", coordinate: z, stiffness: k}, mass: 1 + p1 + p1100}}
initial: {z: 0}
END
{ echo "$names,initial.z"; seq 1101 | sed 's/.*/0.5/' | paste -sd,; } >many.csv
run 0 sweep many.yaml --table many.csv --do steady --keep "place=final(z)" -q
check test "$(tail -n 1 out | cut -d, -f1103 | cut -c1-6)" = -1.962

# On a terminal a line says how far it is, how fast, and how long it will take; it goes away at the end
if python3 -c '' 2>/dev/null; then
    what="progress at a terminal"
    python3 - "$trundle" sweep swing.yaml --vary m=0:30:0.2 --end 30 --keep "final(a)" -o bar.csv <<'END' >out
import os, pty, sys
pty.spawn(sys.argv[1:], lambda fd: os.read(fd, 4096))
END
    check grep -qE '^ *[0-9]+ %  [0-9]+ of 151 runs, [0-9.e+]+ a second, [0-9.]+ (s|min|h) left, 1 failed' <(tr '\r' '\n' <out)
    check test "$(tr -d '\n' <out | grep -o '151 runs in .*' | cut -c1-11)" = '151 runs in'
fi

# ---- databases ------------------------------------------------------------------------------

run 0 sweep swing.yaml --vary l=0.4,0.5 -q -o have.db
if ! [ -f have.db ] || ! command -v sqlite3 >/dev/null; then
    echo "skipped: databases, without SQLite or its program"
    the_end; exit
fi
# All but the seconds of a table of runs
runs_of() {
    rm -f bare.db
    cp "$1" bare.db && sqlite3 bare.db 'ALTER TABLE runs DROP COLUMN seconds; SELECT * FROM runs; SELECT * FROM rows'
}
same_runs() { [ "$(runs_of "$1" | sha256sum)" = "$(runs_of "$2" | sha256sum)" ]; }

count=200
end=10
[ -n "$full" ] && count=10000 && end=1
many=(sweep swing.yaml "${vary[@]}" --samples $count --end $end "${keep[@]}" --record 100)
run 0 "${many[@]}" -o whole.db
check test "$(sqlite3 whole.db 'SELECT count(*) FROM runs')" -eq $count
check test "$(sqlite3 whole.db 'SELECT count(*) FROM rows WHERE run = 100')" -eq $((10 * end + 1))
check test "$(sqlite3 whole.db "SELECT \"final(a)\" = a FROM runs JOIN rows ON runs.run = rows.run AND rows.t = $end WHERE runs.run = 100")" = 1
check test "$(sqlite3 whole.db "SELECT value FROM settings WHERE name = 'model text'" | grep -c bob)" -gt 0
run 0 "${many[@]}" -o whole.db
err_has "$count of $count runs were there before"
run 0 "${many[@]}" --jobs 1 --evaluate interpreter -q -o one.db
check same_runs one.db whole.db

# More columns than a table can have are no trouble where they are not recorded
{ cat swing.yaml; seq -f '  o%g: a' 2000 | sed '1i outputs:'; } | sed '/^outputs: {/d' >wide.yaml
run 0 sweep wide.yaml --vary l=0.4,0.5 --end 0.1 --keep "final(o2000)" -q -o wide.db
check test "$(sqlite3 wide.db 'SELECT count(*) FROM runs WHERE "final(o2000)" < 1')" = 2
run 4 sweep wide.yaml --vary l=0.4,0.5 --end 0.1 --keep "final(o2000)" --record 1 -o wider.db
err_has 'too many columns'

# Pictures: lines where few values of something else vary, dots, and cells of a map
run 0 sweep swing.yaml --vary l=0.4:0.6:0.1 --vary a0=1,2 "${keep[@]}" --record 2 -q -o grid.db
run 0 plot grid.db -y "max(height)" -o lines.svg
check test "$(grep -c '<polyline\|<path' lines.svg)" -ge 2
check grep -q 'a0 = 2' lines.svg
run 0 plot whole.db -x m -y "final(a)" -y low -o dots.svg
check test "$(grep -o '<circle' dots.svg | wc -l)" -gt $count
run 0 plot grid.db -x l,a0 -y "final(a)" -o map.svg
check grep -q 'final(a) from ' map.svg
check test "$(grep -o '<rect' map.svg | wc -l)" -ge $((6 + 13))
# cells of uneven values end where the next ones begin
run 0 sweep swing.yaml --vary l=0.4,0.41,0.5,0.9 --vary a0=1,2,2.2 "${keep[@]}" -q -o uneven.db
run 0 plot uneven.db -x l,a0 -y "final(a)" -o uneven.svg
grep -o '<rect x[^>]*' uneven.svg | grep -v 'width="2"' | tail -n +2 >cells # but for those of the scale, and the box
edges() { # COLUMNS: of where it begins and how wide it is; how many there are, and whether they are apart
    awk -F'"' -v from="$1" -v wide="$2" '{ print $from, $from + $wide }' cells | sort -n -u |
        awk 'NR > 1 && ($1 - end > 0.05 || end - $1 > 0.05) { bad = 1 } { end = $2 } END { print NR, bad + 0 }'
}
check test "$(wc -l <cells)" -eq 12
check test "$(edges 2 6)" = '4 0'
check test "$(edges 4 8)" = '3 0'
for column in status words; do
    run 2 plot grid.db -x $column -o no.svg
    run 2 plot grid.db -y $column -o no.svg
    err_is "trundle: '$column' is a text, of which there is no picture"
done
check test ! -e no.svg
run 1 sweep swing.yaml --vary "m=-1, -2" --vary l=0.4,0.5 --keep "final(a)" -q -o vain.db
for x in m m,l; do
    run 2 plot vain.db -x $x -y "final(a)" -o no.svg
    err_is "trundle: there is no run with a number for 'final(a)'"
done
# A page of runs of which none was recorded, or none moves, has their numbers
echo '<html><!--data--></html>' >page.html
run 0 sweep swing.yaml --vary l=0.4,0.5 --do linearise --record 1 -q -o modes.db
for file in uneven.db modes.db; do
    run 0 view $file --model swing.yaml --page page.html -o numbers.html
    err_has "no run of '$file' was recorded, so none moves: the page shows what they came to"
    check grep -q 'id="sweep">{' numbers.html
    check grep -q '"shown": *\[ *\]' numbers.html
    check test "$(grep -c 'id="columns"' numbers.html)" -eq 0
done
run 0 view grid.db --model swing.yaml --page page.html -q -o moving.html
silent
check grep -q 'id="columns"' moving.html
run 2 plot grid.db -x k -o no.svg
err_has "'grid.db' has no column 'k'"
run 2 plot grid.db whole.db -o no.svg
err_has 'a picture of a sweep is of one database'
run 2 plot grid.db --track -o no.svg
err_has 'a sweep has no track and no times'
run 4 plot runs.db -o no.svg
err_has "cannot use the database 'runs.db'"

# Killed at random moments, and gone on with: many times before the end, which one thread is slow to
# reach; what is done nevertheless begins anew
strike() { # NAME KILLS OPTIONS...
    local name=$1 kills=$2 hits=0 tries began most moment there
    shift 2
    local sweep=(sweep swing.yaml "${vary[@]}" --samples $count "${keep[@]}" --record 100 "$@" -q)
    began=$(date +%s%N)
    run 0 "${sweep[@]}" --jobs 1 -o "$name.db"
    most=$((($(date +%s%N) - began) / 1500000 / kills)) # [ms] so that they come to a third of it
    rm -f killed.db
    for ((tries = 0; hits < kills && tries < 10 * kills; tries++)); do
        moment=$((most * (RANDOM % 1000) / 1000))
        "$trundle" "${sweep[@]}" --jobs 1 -o killed.db >/dev/null 2>&1 &
        sleep "$(printf '%d.%03d' $((moment / 1000)) $((moment % 1000)))"
        kill -9 $! 2>/dev/null
        wait $! 2>/dev/null
        status=$?
        there=$(sqlite3 killed.db 'SELECT count(*) FROM runs' 2>/dev/null)
        if [ $status -eq 137 ] && [ "${there:-0}" -lt $count ]; then
            hits=$((hits + 1))
        elif [ "${there:-0}" -eq $count ]; then
            check same_runs killed.db "$name.db"
            rm -f killed.db
        fi
    done
    what="kills: $name"
    check test $hits -eq "$kills"
    run 0 "${sweep[@]}" -o killed.db
    check same_runs killed.db "$name.db"
}
if [ -n "$full" ]; then
    strike struck 20 --end 4
    strike struck_side_by_side 20 --end 40 --method rk4
else
    strike struck 3 --end 20
fi

# Blocks of runs side by side of which some are there, wherever they were made
side_by_side=(sweep swing.yaml "${vary[@]}" --samples 200 --end 3 "${keep[@]}" --record 10 --method rk4 -q)
run 0 "${side_by_side[@]}" -o blocks.db
cp blocks.db holes.db
sqlite3 holes.db 'DELETE FROM runs WHERE run % 7 = 3 OR run IN (0, 63, 64, 199) OR run BETWEEN 100 AND 150;
    DELETE FROM rows WHERE run % 20 = 10 AND "row" > 5 AND run NOT IN (SELECT run FROM runs)'
check test "$(sqlite3 holes.db 'SELECT count(*) FROM runs')" -lt 130
run 0 "${side_by_side[@]}" --jobs 2 -o holes.db
check same_runs holes.db blocks.db

# What is there grows while it works, and stays
if [ -n "$full" ]; then
    what="runs that are written as they come"
    growing() { sqlite3 -cmd '.timeout 10000' growing.db 'SELECT count(*) FROM runs'; } # waits for commits
    "$trundle" "${many[@]}" --end $((20 * end)) --jobs 1 -q -o growing.db &
    until [ "$(sqlite3 growing.db 'SELECT count(*) > 0 FROM runs' 2>/dev/null)" = 1 ]; do sleep 0.1; done
    first=$(growing)
    sleep 5
    second=$(growing)
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
    check test "$second" -gt "$first"
    check test "$second" -lt $count
    check test "$(growing)" -ge "$second"
    check test -e growing.db-sweep # which nobody has
    run 0 "${many[@]}" --end $((20 * end)) --shard 1/100 -q -o growing.db
    check test ! -e growing.db-sweep
fi

# Interrupted, politely
"$trundle" "${many[@]}" --end $((3 * end)) -o stopped.db >out 2>err &
in_work $!
sleep 0.1
kill -INT $!
wait $!
what="interrupted"
status=$?
if [ $status -eq 130 ]; then err_has 'the same command goes on from there'; else check test $status -eq 0; fi
run 0 "${many[@]}" --end $((3 * end)) -q -o stopped.db
check test "$(sqlite3 stopped.db 'SELECT count(*) FROM runs')" -eq $count

# ---- what is refused, and what goes wrong -----------------------------------------------------

run 2 "${many[@]}" --end 9 -o whole.db
err_has "'whole.db' was begun with another end, '$end' and not '9': give another file, or go on as it was begun"
run 2 sweep swing.yaml "${vary[@]}" --samples $count --keep "final(a)" --record 100 -o whole.db
err_has "another keep, '"
sed 's/m: 1,/m: 2,/' swing.yaml >other.yaml
run 2 sweep other.yaml "${many[@]:2}" -o whole.db
err_has "'whole.db' was begun with another model, or the model has changed since"
run 2 "${many[@]}" --set c=0.2 -o whole.db
err_has 'another set'
# what the model is made of, too
cat >arm.yaml <<'END'
trundle: 1
parameters: {l: 0.5}
bodies:
  bob: {joint: {type: revolute, axis: "0, 1, 0", coordinate: a}, mass: pull(1), com: "0, 0, -l"}
tables: {pull: {file: spring.csv, x: x, value: y}}
END
printf 'x,y\n0,0\n1,2\n9,3\n' >spring.csv
cat >robot.yaml <<'END'
trundle: 1
include: {left: {file: arm.yaml}}
initial: {left_a: 1}
END
made=(sweep robot.yaml --vary left_l=0.4,0.5 --end 0.1 -o made.db)
run 0 "${made[@]}"
run 0 "${made[@]}"
err_has '2 of 2 runs were there before'
for file in arm.yaml spring.csv; do
    cp $file kept
    sed -i 's/mass: pull/mass: 2*pull/; s/1,2/1,2.5/' $file
    run 2 "${made[@]}"
    err_has "'made.db' was begun with another model, or the model has changed since"
    cp kept $file
    run 0 "${made[@]}"
done
# blanks alone change nothing, other formulas do
two=(sweep swing.yaml --vary l=0.4,0.5 -o blanks.db)
run 0 "${two[@]}" --keep "final(a), low=time(a < 0)" --stop "t > 0.2" -q
run 0 "${two[@]}" --keep " final( a ),low = time(a<0) " --stop " t>0.2"
err_has '2 of 2 runs were there before'
run 2 "${two[@]}" --keep "final(a), low=time(a < 1)" --stop "t > 0.2"
err_has "'blanks.db' was begun with another keep, 'final(a),low=time(a<0)' and not 'final(a),low=time(a<1)'"
check same_runs one.db whole.db
sqlite3 foreign.db 'CREATE TABLE birds (name)'
run 2 "${many[@]}" -o foreign.db
err_has "'foreign.db' is a database of something else"
echo "this is a text, and no database at all, however long it is: 0123456789 0123456789 0123456789 0123456789" >text.db
run 4 "${many[@]}" -o text.db
err_has "'text.db' is no database"
# what is no table of the file may never end
for table in runs rows settings; do
    cp grid.db endless.db
    sqlite3 endless.db "ALTER TABLE $table RENAME TO other; CREATE VIEW $table AS
        WITH RECURSIVE n(run) AS (SELECT 1 UNION ALL SELECT run + 1 FROM n) SELECT run, run AS \"row\", run AS t FROM n"
    for verb in 'plot endless.db -o no.svg' 'view endless.db --model swing.yaml -o no.html'; do
        # shellcheck disable=SC2086
        run 3 $verb
        err_has "'endless.db' is no database of a sweep"
    done
    run 2 sweep --merge endless.db -o merged.db
    err_has "'endless.db' is no database of a sweep"
    run 2 sweep swing.yaml --vary l=0.4:0.6:0.1 --vary a0=1,2 "${keep[@]}" --record 2 -q -o endless.db
    err_has "'endless.db' is a database of something else"
done
run 4 "${many[@]}" -o no/where.db
err_has "cannot use the database 'no/where.db'"

# Two at once: the second one is told, and the first goes on; a claim that nobody has is taken over
touch twice.db-sweep
"$trundle" "${many[@]}" --end $((3 * end)) -q -o twice.db >first 2>&1 &
until [ -s twice.db ]; do sleep 0.01; done
kill -STOP $!
run 4 "${many[@]}" --end $((3 * end)) -o twice.db
kill -CONT $!
err_is "trundle: another sweep is at work on 'twice.db': wait for it, or give another file"
wait $!
what="the first of two"
check test $? -eq 0
check test ! -s first
check test "$(sqlite3 twice.db 'SELECT count(*) FROM runs')" -eq $count
check test ! -e twice.db-sweep

# One that somebody has damaged is told, whoever reads it
cp grid.db damaged.db
for value in NULL "''" "'{'" "'{ \"case'" "'{\"with\" 3}'" "'[1, 2'" "'3'"; do
    sqlite3 damaged.db "UPDATE settings SET value = $value WHERE name = 'origin'"
    run 0 plot damaged.db -x l -y "max(height)" -o damaged.svg
    "$trundle" plot damaged.db:0 -o damaged.svg >out 2>err
    check test $? -le 4
    "$trundle" view damaged.db --model swing.yaml -o damaged.html >out 2>err
    check test $? -le 4
done

# Runs that a sweep has not are not merged, and what is refused leaves nothing behind
for change in 'runs SET run = -5 WHERE run = 1' 'runs SET run = 6 WHERE run = 1' 'rows SET run = -1 WHERE run = 0' \
    "rows SET run = 'x' WHERE run = 0"; do
    cp grid.db damaged.db
    sqlite3 damaged.db "UPDATE $change"
    run 4 sweep --merge grid.db damaged.db -o merged.db
    err_is "trundle: 'damaged.db' is damaged: it has runs that its sweep has not"
    check test ! -e merged.db
done
run 4 sweep --merge grid.db text.db -o merged.db
err_has "'text.db' is no database, or it is damaged"
run 2 sweep --merge grid.db whole.db -o merged.db
err_has "'whole.db' was made with another"
run 4 sweep --merge grid.db nowhere.db -o merged.db
check test ! -e merged.db
run 0 sweep --merge grid.db -o merged.db
err_has '6 of 6 runs are in merged.db'

# A disk that is full: what was written stays, and is gone on with
(
    ulimit -f 24
    "$trundle" "${many[@]}" -q -o full.db >out 2>err
)
status=$?
what="a full disk"
check test $status -eq 4
err_has "the database 'full.db'"
run 0 "${many[@]}" -q -o full.db
check same_runs full.db whole.db

# A file system of its own, which is small, and then read-only
mkdir small
cat >in_small.sh <<'END'
trundle=$1
shift
mount -t tmpfs -o size=240k tmpfs small || exit 77
"$trundle" "$@" --shard 1/4 -q -o small/a.db; echo $? >status
cp small/a.db part.db
"$trundle" "$@" -q -o small/a.db 2>full; echo $? >>status
cp small/a.db small.db
"$trundle" sweep --merge large.db -q -o small/c.db 2>full_merge; echo $? >>status
rm -f small/c.db*
mount -o remount,ro small || exit 77
"$trundle" "$@" -q -o small/a.db 2>read_only; echo $? >>status
"$trundle" "$@" -q -o small/b.db 2>not_made; echo $? >>status
"$trundle" sweep --merge whole.db -q -o small/b.db 2>not_merged; echo $? >>status
"$trundle" plot small/a.db -y "final(a)" -q -o read.svg; echo $? >>status
END
larger=(sweep swing.yaml "${vary[@]}" --samples 200 --end 10 "${keep[@]}" --record 5)
if unshare -rm true 2>/dev/null; then
    run 0 "${larger[@]}" -q -o large.db
    what="a small file system"
    unshare -rm bash in_small.sh "$trundle" "${larger[@]}" >out 2>err
    check test "$(tr '\n' ' ' <status)" = '0 4 4 4 4 4 0 '
    check grep -qF "the disk is full, below the database 'small/a.db': what was written stays" full
    check grep -qF "the disk is full, below the database 'small/c.db'" full_merge
    check grep -qF "'small/a.db': attempt to write a readonly database" read_only
    check grep -qF "cannot use the database 'small/b.db'" not_made
    check grep -qF "cannot use the database 'small/b.db'" not_merged
    check test "$(sqlite3 small.db 'SELECT count(*) FROM runs')" -ge "$(sqlite3 part.db 'SELECT count(*) FROM runs')"
    run 0 "${larger[@]}" -q -o small.db
    check same_runs small.db large.db
else
    echo "left out: no file systems of one's own here"
fi

# Another program has it: it is waited for, for a while
cp whole.db locked.db
sqlite3 locked.db 'DELETE FROM runs WHERE run > 100'
hold() { (echo 'BEGIN IMMEDIATE; SELECT 1;'; sleep "$1") | sqlite3 locked.db >held; }
hold 1 &
until [ -s held ]; do sleep 0.02; done
run 0 "${many[@]}" -q -o locked.db
check same_runs locked.db whole.db
wait
if [ -n "$full" ]; then
    sqlite3 locked.db 'DELETE FROM runs WHERE run > 100'
    rm -f held
    hold 25 &
    until [ -s held ]; do sleep 0.02; done
    run 4 "${many[@]}" -q -o locked.db
    err_has "'locked.db' is locked by another program: what was written stays"
    wait
    run 0 "${many[@]}" -q -o locked.db
    check same_runs locked.db whole.db
    (echo 'BEGIN EXCLUSIVE; SELECT 1;'; sleep 14) | sqlite3 locked.db >held_whole &
    until [ -s held_whole ]; do sleep 0.02; done
    run 4 sweep --merge locked.db -o merged.db
    err_is "trundle: 'locked.db' is locked by another program"
    wait
fi
the_end
