#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A sweep as an array of jobs under Slurm: munged, slurmctld and slurmd are started on this machine,
# with a folder and ports of their own, and the script of the documents is submitted.
#    slurm_check.sh TRUNDLE ROOT
set -u
trundle=$(realpath "$1") root=$(realpath "$2")
PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd sbatch sqlite3; do
    command -v $program >/dev/null || { echo "skipped: there is no $program"; exit 77; }
done
folder=$(mktemp -d) started=()
clean_up() {
    for process in "${started[@]}"; do kill "$process" 2>/dev/null; done
    wait 2>/dev/null
    rm -rf "$folder"
}
trap clean_up EXIT
fail() {
    echo "FAILED: $*"
    tail -n 20 "$folder"/*.log "$folder"/work/*.out 2>/dev/null
    exit 1
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# ---- a cluster of one machine ---------------------------------------------------------------

cd "$folder" || exit 1
chmod 755 . && mkdir state spool work && head -c 1024 /dev/urandom >key && chmod 600 key
user=$(id -un) host=$(hostname -s)
munged --foreground --force --key-file="$folder/key" --socket="$folder/munge" --pid-file="$folder/munge.pid" \
    --log-file="$folder/munge.log" --seed-file="$folder/seed" >munged.log 2>&1 &
started+=($!)
cat >slurm.conf <<END
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmdPort=$(free_port)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$folder/munge
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP MaxTime=10
END
export SLURM_CONF=$folder/slurm.conf
for ((i = 0; i < 100; i++)); do [ -S munge ] && break; sleep 0.1; done
slurmctld -D >/dev/null 2>&1 & started+=($!)
slurmd -D >/dev/null 2>&1 & started+=($!)
for ((i = 0; i < 300; i++)); do
    sinfo -h -o %T 2>/dev/null | grep -q idle && break
    sleep 0.1
done
[ $i -lt 300 ] || fail "the cluster does not come up"

# ---- the sweep ------------------------------------------------------------------------------

cd work || exit 1
cp "$root/models/cart_pole.yaml" "$root/docs/sweep.sbatch" .
words=(sweep cart_pole.yaml --vary "m~normal(0.1, 0.01)" --vary "l~uniform(0.4, 0.6)" --samples 400 --seed 5 --end 1)
cat >sweep.conf <<'END'
sweep cart_pole.yaml --vary "m~normal(0.1, 0.01)" --vary "l~uniform(0.4, 0.6)"
--samples 400 --seed 5 --end 1
END
export TRUNDLE=$trundle
sbatch --wait --array=1-4 sweep.sbatch sweep.conf 4 >submit.out 2>&1 || fail "the array of jobs"
ls part*.db >/dev/null 2>&1 || fail "there are no parts"
"$trundle" sweep --merge part*.db -o all.db || fail "they do not become one"
"$trundle" "${words[@]}" -q -o whole.db || fail "the whole"
# the digest of all runs but for their seconds, once: that column is gone then
runs_of() { sqlite3 "$1" 'ALTER TABLE runs DROP COLUMN seconds; SELECT * FROM runs' | sha256sum; }
whole=$(runs_of whole.db)
[ "$(runs_of all.db)" = "$whole" ] || fail "other numbers than in one process"
[ "$(sqlite3 whole.db 'SELECT count(*) FROM runs')" = 400 ] || fail "runs are missing"
# Submitted again, nothing is left to do
sbatch --wait --array=1-4 sweep.sbatch sweep.conf 4 >submit.out 2>&1 || fail "the array once more"
grep -q 'runs were there before' slurm-*.out || fail "it did them again"
# One that is lost is submitted alone, and is the same part
rm part3.db slurm-*.out
sbatch --wait --array=3 sweep.sbatch sweep.conf 4 >submit.out 2>&1 || fail "one job once more"
"$trundle" sweep --merge part*.db -q -o again.db || fail "they do not become one again"
[ "$(runs_of again.db)" = "$whole" ] || fail "other runs than it had"
echo "400 runs in four jobs: the numbers of one process"
