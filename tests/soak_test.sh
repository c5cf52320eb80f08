#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A soak of seconds; and that it says what fails: mechanisms, a run that ends early, one whose
# energy is off.
#   tests/soak_test.sh SOURCE BUILD fuzz|plain
set -eu
[ $# -eq 3 ] || { echo "usage: $0 SOURCE BUILD fuzz|plain" >&2; exit 2; }
soak=$1/tools/soak
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' HUP INT TERM

fail() { echo "$*" >&2; cat "$folder/said" >&2; exit 1; }
# fails WORDS SOAK'S ARGUMENTS...: it exits with 1, and says so.
fails() {
    words=$1
    shift
    status=0
    "$soak" --seed 1 "$@" "$folder" "$folder" >"$folder/said" 2>&1 || status=$?
    [ $status -eq 1 ] || fail "exit code $status, not 1"
    grep -q "$words" "$folder/said" || fail "does not say: $words"
}

if [ "$3" = fuzz ]; then
    "$soak" --seed 1 --fuzz 1 --forests 0 --until 0 "$2" "$2"
else
    "$soak" --seed 1 --fuzz 0 --forests 30 --until 10 "$2" "$2"
fi

fails 'there are no fuzz targets' --fuzz 1 --forests 0 --until 0
mkdir "$folder/tests"
printf '#!/bin/sh\necho row 3 is off; exit 1\n' >"$folder/tests/reduce_test"
cat >"$folder/trundle" <<'END'
#!/bin/sh
while [ "$1" != --end ]; do shift; done
end=$2
while [ "$1" != -o ]; do shift; done
case $2 in
*/bicycle.csv) echo "{\"reached\": 1, \"energy_error\": 0}" ;;
*/snakeboard.csv) echo "{\"reached\": $end, \"energy_error\": 1e-6}" ;;
*/castor.csv) echo "{\"reached\": $end, \"energy_error\": null}" ;;
*) echo "{\"reached\": $end, \"energy_error\": 1e-9}" ;;
esac >"${2%.csv}.json"
END
chmod +x "$folder/trundle" "$folder/tests/reduce_test"
fails 'row 3 is off' --fuzz 0 --forests 501 --until 0
grep -q '^0 of 2 are well' "$folder/said" || fail 'counts otherwise'
fails 'reached 1 of 10' --fuzz 0 --forests 0 --until 10
grep -q '^FAILED .* snakeboard until 10 s' "$folder/said" || fail 'does not see energy'
grep -q '^FAILED .* castor until 5 s' "$folder/said" || fail 'does not see what is not finite'
grep -q '^16 of 19 are well' "$folder/said" || fail 'counts otherwise'
