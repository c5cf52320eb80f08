#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs/theory.md and the code say the same: what comments cite is there, what is there is cited by
# the files that it names, and these exist.    theory_test.sh ROOT
set -eu
cd "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0

complain() {
    echo "FAILED: $*" >&2
    bad=1
}

# Lines "FILE NUMBER" of all numbers in the comments of FILE..., ranges like T3-T5 in full
cited_by() {
    awk '
        function note(from, to) { for (; from <= to; from++) print FILENAME, "T" from }
        !index($0, "//") { next }
        {
            rest = " " substr($0, index($0, "//") + 2) " "
            while (match(rest, /[^A-Za-z0-9_]T[0-9]+(-T[0-9]+)?[^A-Za-z0-9_]/)) {
                split(substr(rest, RSTART + 2, RLENGTH - 3), ends, "-T")
                note(ends[1] + 0, (2 in ends ? ends[2] : ends[1]) + 0)
                rest = substr(rest, RSTART + RLENGTH - 1)
                delete ends
            }
        }' "$@" | sort -u
}

# Lines "FILE NUMBER" of the files that an equation of docs/theory.md names; "- NUMBER" of itself,
# "? NUMBER" of every other one that the text speaks of
described() {
    awk '
        /^## / { number = "" }
        match($0, /^\*\*T[0-9]+\*\*/) { number = substr($0, 3, RLENGTH - 4); print "-", number }
        {
            for (rest = $0; match(rest, /`src\/[a-z_\/]+\.[a-z]+`/); rest = substr(rest, RSTART + RLENGTH))
                print substr(rest, RSTART + 1, RLENGTH - 2), number
            for (rest = " " $0 " "; match(rest, /[^A-Za-z0-9_]T[0-9]+[^A-Za-z0-9_]/);
                 rest = substr(rest, RSTART + RLENGTH - 1))
                print "?", substr(rest, RSTART + 1, RLENGTH - 2)
        }' docs/theory.md
}

find src -name '*.[ch]' -o -name '*.def' | sort >"$work/files"
cited_by $(cat "$work/files") >"$work/cited"
described >"$work/described"
sed -n 's/^- //p' "$work/described" | sort >"$work/numbers"
[ -s "$work/numbers" ] || complain "docs/theory.md has no equations"

for number in $(uniq -d "$work/numbers"); do complain "two equations are $number"; done
while read -r file number; do
    grep -qx "$number" "$work/numbers" || complain "$file cites $number, which docs/theory.md does not have"
done <"$work/cited"
for number in $(sed -n 's/^? //p' "$work/described" | sort -u); do
    grep -qx "$number" "$work/numbers" || complain "docs/theory.md speaks of $number, which it does not have"
done
while read -r number; do
    grep -q " $number\$" "$work/cited" || complain "no file cites $number"
    grep -q "^src/.* $number\$" "$work/described" || complain "$number names no file"
done <"$work/numbers"
grep '^src/' "$work/described" | sort -u >"$work/named"
while read -r file number; do
    [ -f "$file" ] || complain "docs/theory.md names $file, which is not there"
    [ -z "$number" ] || grep -qx "$file $number" "$work/cited" || complain "$file does not cite $number, which names it"
done <"$work/named"

# What must cite something: the physics, the reduction, and the numerics that have equations.
for file in $(grep -e '^src/mech/' -e '^src/reduce/' "$work/files") src/plan/assemble.c src/steady/newton.c \
    src/plan/chart.c src/plan/kkt.c src/plan/impact.c src/linear/linear.c src/linear/riccati.c \
    src/plan/sensitivity.c src/plan/stance.c src/steady/steady.c; do
    grep -q "^$file " "$work/cited" || complain "$file cites no equation of docs/theory.md"
done
[ $bad = 0 ] && echo "$(wc -l <"$work/numbers") equations, cited by $(cut -d' ' -f1 "$work/cited" | uniq | wc -l) files"
exit $bad
