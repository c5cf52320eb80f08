#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The source archive: the same bytes twice; where Node.js and npm are not there, what is unpacked is
# configured with the page of reports that it brings, and without that page says aloud what is left
# out. In the full check it is built as well, and makes a report.    dist_test.sh SOURCE PAGE [full]
set -eu
source=$1 page=$2 full=${3:-}
git -C "$source" rev-parse HEAD >/dev/null 2>&1 || { echo "left out: this is no clone of git"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/once" "$work/twice" "$work/path"

fail() { echo "$*" >&2; exit 1; }

archive=$("$source/tools/dist" "$page" "$work/once")
touch -d "2001-02-03" "$work/twice"
cp "$page" "$work/other.html" # with another date and other rights
chmod 600 "$work/other.html"
cmp "$archive" "$("$source/tools/dist" "$work/other.html" "$work/twice")"
if "$source/tools/dist" "$work/nothing.html" "$work" 2>"$work/said"; then fail "an archive without a page"; fi
grep -q "there is no page of reports" "$work/said"

tar -xzf "$archive" -C "$work"
there=$(find "$work" -maxdepth 1 -type d -name 'trundle-*')
cmp "$page" "$there/web/page.html"
for file in LICENSE README.md Makefile src/cli/main.c models/bicycle.yaml; do
    [ -s "$there/$file" ] || fail "the archive has no $file"
done

# Every program but Node.js and npm
for folder in /usr/local/bin /usr/bin /bin; do
    for program in "$folder"/*; do
        case "${program##*/}" in node | nodejs | npm | npx | ccache) continue ;; esac
        [ -e "$work/path/${program##*/}" ] || ln -s "$program" "$work/path/"
    done
done
configure() { # into $1, with its words in $1.log
    env PATH="$work/path" cmake -S "$there" -B "$1" -G "Unix Makefiles" -DBUILD_TESTING=OFF \
        >"$1.log" 2>&1 || { cat "$1.log"; exit 1; }
}
configure "$work/build"
grep -q "Configuring done" "$work/build.log" || fail "what CMake says has changed"
if grep -i "reports are left out" "$work/build.log"; then fail "the page was not found"; fi
if [ -n "$full" ]; then
    env PATH="$work/path" cmake --build "$work/build" -j"$(nproc)" --target trundle_cli >"$work/log" 2>&1 ||
        { tail -n 30 "$work/log"; exit 1; }
    "$work/build/trundle" simulate "$there/models/double_pendulum.yaml" -q -o "$work/run.csv" --report "$work/run.html"
    [ "$(wc -c <"$work/run.html")" -gt "$(wc -c <"$page")" ] || fail "the report is shorter than its page"
fi

rm "$there/web/page.html"
configure "$work/without"
grep -q "CMake Warning" "$work/without.log" || fail "nothing is said of reports"
grep -q "Reports are left out" "$work/without.log" || fail "nothing is said of reports"
