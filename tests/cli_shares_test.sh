#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sweeps that several processes share, with MPI and without: the same numbers, whoever made them.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

cat >swing.yaml <<'END'
trundle: 1
name: swing
parameters: {l: 0.5, m: 1, c: 0.1}
bodies:
  bob:
    joint: {type: revolute, axis: "0, 1, 0", coordinate: a, damping: c}
    mass: m
    com: 0, 0, -l
initial: {a: 1}
cases: {go: {end: 10, every: 0.1}}
END
many=(sweep swing.yaml --vary "m~normal(1, 0.1)" --vary "l~uniform(0.4, 0.6)" --seed 3 --samples 300
    --keep "final(a), mean(a_rate)" --record 100)

run 2 "${many[@]}" --shard 4/3
err_is "trundle: --shard takes a part and how many there are, as 3/16, not '4/3'"
run 2 "${many[@]}" --shard 0/3
run 2 "${many[@]}" --shard two
run 2 sweep --merge
err_has 'which model?'
run 2 sweep --merge a.db b.db
err_has 'say which, by -o all.db'
run 0 "${many[@]}" -q -o whole.db
if ! [ -f whole.db ] || ! command -v sqlite3 >/dev/null; then
    echo "skipped: without SQLite or its program"
    the_end; exit
fi
runs_of() {
    rm -f bare.db
    cp "$1" bare.db && sqlite3 bare.db 'ALTER TABLE runs DROP COLUMN seconds; SELECT * FROM runs; SELECT * FROM rows'
}
same_runs() { [ "$(runs_of "$1" | sha256sum)" = "$(runs_of "$2" | sha256sum)" ]; }

# ---- shards ---------------------------------------------------------------------------------

for i in 1 2 3; do run 0 "${many[@]}" --shard $i/3 -o part$i.db; done
err_has ' runs in '
run 0 sweep --merge part1.db part3.db -o all.db
err_has ' of 300 runs are in all.db'
run 0 sweep --merge part2.db part2.db part1.db -o all.db
err_is '300 of 300 runs are in all.db, 0 of them could not go on to the end'
check same_runs all.db whole.db
run 0 "${many[@]}" -o all.db # goes on with what was merged
err_has '300 of 300 runs were there before'
run 0 "${many[@]}" --shard 2/3 -o part1.db # one part behind the other in a file
run 0 sweep --merge part3.db -o part1.db -q
silent
check same_runs part1.db whole.db

# The script of an array of jobs: one of them that is submitted again, alone, makes its own part
printf 'sweep swing.yaml --vary "m~normal(1, 0.1)" --vary\n"l~uniform(0.4, 0.6)" --seed 3 --samples 300\n' >sweep.conf
printf -- "--keep 'final(a), mean(a_rate)' --record 100 -q" >>sweep.conf # a line that does not end
slurm() { # COUNT PART WORDS...: a job of an array of as many
    what="job $2 of an array of $1"
    SLURM_ARRAY_TASK_COUNT=$1 SLURM_ARRAY_TASK_ID=$2 TRUNDLE=$trundle bash "$reported/../../docs/sweep.sbatch" "${@:3}" >out 2>err
    status=$?
}
mkdir array && cp swing.yaml sweep.conf array && cd array || exit 2
for i in 1 2 3; do
    slurm 3 $i sweep.conf 3
    check test $status -eq 0
done
rm part2.db
slurm 1 2 sweep.conf 3
check test $status -eq 0
run 0 sweep --merge part*.db -o ../array.db
err_is '300 of 300 runs are in ../array.db, 0 of them could not go on to the end'
rm part1.db
slurm 3 1 sweep.conf # as many as are submitted
check test $status -eq 0
run 0 sweep --merge part*.db -q -o ../array.db
echo '--vary "l' >torn.conf
slurm 3 1 torn.conf 3
check test $status -ne 0
cd "$work" || exit 2
check same_runs array.db whole.db

run 0 "${many[@]}" --end 9 --shard 1/3 -q -o other.db
run 2 sweep --merge part2.db other.db -o mixed.db
err_has "'other.db' was made with another end than 'part2.db': '9', not '10'"
sed 's/m: 1,/m: 2,/' swing.yaml >heavy.yaml
run 0 sweep heavy.yaml "${many[@]:2}" --shard 1/3 -q -o heavy.db
run 2 sweep --merge part2.db heavy.db -o mixed.db
err_has "'heavy.db' is of another model than 'part2.db', or the model has changed between"
sqlite3 birds.db 'CREATE TABLE birds (name)'
run 2 sweep --merge part2.db birds.db -o mixed.db
err_has "'birds.db' is no database of a sweep"
run 2 sweep --merge part2.db -o birds.db
err_has "'birds.db' is a database of something else"
run 4 sweep --merge part2.db nothing.db -o mixed.db
err_has "cannot read 'nothing.db'"
check test ! -e nothing.db
echo "not a database at all" >words.db
run 4 sweep --merge part2.db words.db -o mixed.db
err_has "'words.db' is no database, or it is damaged"
cp part3.db silent.db # which does not say of which sweep it is
sqlite3 silent.db 'DELETE FROM settings'
run 2 sweep --merge silent.db part2.db -o silence.db
err_has "'silent.db' is no database of a sweep"
run 2 sweep --merge part2.db silent.db -o mixed.db
err_has "'silent.db' is no database of a sweep"
cp part3.db forgetful.db
sqlite3 forgetful.db "DELETE FROM settings WHERE name = 'seed'"
run 2 sweep --merge part2.db forgetful.db -o mixed.db
err_has "'forgetful.db' was made with another seed than 'part2.db': '', not '3'"
# commands behind that which makes a table are not done
cp part2.db evil.db
sqlite3 evil.db "PRAGMA writable_schema = 1; UPDATE sqlite_master SET sql = sql || '; ATTACH ''stolen.db'' AS more; CREATE TABLE more.birds (name)' WHERE name = 'settings'"
"$trundle" sweep --merge evil.db -o merged.db -q >out 2>err
check test ! -e stolen.db
sqlite3 part3.db ANALYZE # tables of SQLite's own
run 0 sweep --merge part3.db -o looked_at.db -q
run 2 sweep --merge part2.db part3.db -o part2.db
err_has 'would be overwritten'

# ---- processes ------------------------------------------------------------------------------

export ASAN_OPTIONS=detect_leaks=0 # those of MPI itself

share() { # N OPTIONS...: of trundle
    local n=$1
    shift
    timeout 100 mpirun --allow-run-as-root --oversubscribe -n "$n" "$trundle" "$@" >out 2>err
    status=$?
    what="mpirun -n $n $*"
}
if ! command -v mpirun >/dev/null; then
    echo "skipped: MPI is not installed"
    the_end; exit
fi
share 2 "${many[@]}" -o mpi.db
if grep -q 'this build has no MPI' err; then
    echo "skipped: built without MPI"
    the_end; exit
fi
check test $status -eq 0
check test "$(grep -c ' runs in ' err)" -eq 1
check same_runs mpi.db whole.db
share 3 "${many[@]}" --jobs 2 -q -o three.db
check test $status -eq 0
check same_runs three.db whole.db
share 2 "${many[@]}" -o mpi.db
err_has '300 of 300 runs were there before'

# Side by side, with blocks of which some runs are there already; and what is no run
blocks=("${many[@]}" --method rk4 --step 0.005 --record 7)
run 0 "${blocks[@]}" -q -o blocks.db
run 0 "${blocks[@]}" --shard 2/3 -q -o half.db
sqlite3 half.db 'DELETE FROM runs WHERE run % 5 = 1; DELETE FROM rows WHERE run % 5 = 1 AND "row" > 3'
before=$(sqlite3 half.db 'SELECT count(*) FROM runs')
check test "$before" -gt 0
for n in 2 3; do
    rm -f mpi.db
    cp half.db gone_on.db
    share $n "${blocks[@]}" -q -o mpi.db
    check test $status -eq 0
    check same_runs mpi.db blocks.db
    share $n "${blocks[@]}" -o gone_on.db
    check test $status -eq 0
    err_has "$before of 300 runs were there before"
    check same_runs gone_on.db blocks.db
done
modes=(sweep swing.yaml --vary "m~normal(1, 0.1)" --vary l=0.4:0.6:0.02 --seed 3 --samples 20 --do linearise --hold a=0)
run 0 "${modes[@]}" -q -o modes.db
check test "$(sqlite3 modes.db "SELECT count(*) FROM runs WHERE stability < 0 AND im1 IS NOT NULL")" -eq 220
share 2 "${modes[@]}" -q -o mpi_modes.db
check test $status -eq 0
check same_runs mpi_modes.db modes.db

# One of them is lost, and the next start goes on
long=("${many[@]}" --end 150 --most-steps 0)
run 0 "${long[@]}" -q -o long.db
for victim in 0 1; do
    rm -f lost.db
    timeout 100 mpirun --allow-run-as-root --oversubscribe -n 2 sh -c "echo \$\$ >rank\$OMPI_COMM_WORLD_RANK; exec \"\$0\" \"\$@\"" \
        "$trundle" "${long[@]}" -q -o lost.db >out 2>err &
    job=$!
    until [ -s rank0 ] && [ -s rank1 ] && [ -s lost.db ]; do sleep 0.05; done
    sleep 0.3
    kill -9 "$(cat rank$victim)" 2>/dev/null
    wait $job
    status=$?
    what="process $victim is lost"
    check test $status -ne 0
    rm -f rank0 rank1
    run 0 "${long[@]}" -q -o lost.db
    check same_runs lost.db long.db
done

# One of them alone is stopped: so is the sweep, and it says so
for victim in 0 1; do
    for signal in INT TERM; do
        rm -f stopped.db rank0 rank1
        timeout 100 mpirun --allow-run-as-root --oversubscribe -n 2 sh -c "echo \$\$ >rank\$OMPI_COMM_WORLD_RANK; exec \"\$0\" \"\$@\"" \
            "$trundle" "${long[@]}" -o stopped.db >out 2>err &
        job=$!
        until [ -s rank0 ] && [ -s rank1 ] && [ -s stopped.db ]; do sleep 0.05; done
        sleep 0.3
        in_work "$(cat rank$victim)"
        kill -$signal "$(cat rank$victim)"
        wait $job
        status=$?
        what="process $victim is stopped by SIG$signal"
        check test $status -eq 130
        err_has 'interrupted after '
        err_has 'the same command goes on from there'
        check test "$(sqlite3 stopped.db 'SELECT count(*) FROM runs')" -lt 300
    done
done
run 0 "${long[@]}" -q -o stopped.db
check same_runs stopped.db long.db

# What only one of them finds wrong is told by the first, once, and all of them end
mkdir one two
cp swing.yaml one
cp heavy.yaml two/swing.yaml
timeout 60 mpirun --allow-run-as-root --oversubscribe -n 1 --wdir one "$trundle" "${many[@]}" -o x.db \
    : -n 1 --wdir two "$trundle" "${many[@]}" -o x.db >out 2>err
status=$?
what="two models"
check test $status -eq 2
err_has 'process 1 has another model, or other settings, than the first'
rm two/swing.yaml
timeout 60 mpirun --allow-run-as-root --oversubscribe -n 1 --wdir one "$trundle" "${many[@]}" -o y.db \
    : -n 1 --wdir two "$trundle" "${many[@]}" -o y.db >out 2>err
status=$?
what="a model that one lacks"
check test $status -ne 0
err_has "cannot read 'swing.yaml'"
sed 's/c}/d}/' swing.yaml >wrong.yaml
for model in nothing.yaml wrong.yaml; do # what is wrong for all
    share 2 sweep $model --vary l=0.4,0.5 -o none.db
    check test $status -ne 0
    check test "$(grep -c "^trundle: \|$model:" err)" -eq 1
done
the_end
