#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside, given names, values and files of people who mean harm: nothing of
# theirs acts on a terminal, JSON is JSON, and pages and pictures hold no markup of theirs.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

acting='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]'
# plain FILES...: valid UTF-8 without anything that acts
plain() {
    local file
    for file in "$@"; do
        check iconv -f UTF-8 -t UTF-8 "$file" -o /dev/null
        check test "$(grep -caP "$acting" "$file")" -eq 0
    done
}
escape=$'\e[31m\e]0;owned\a' turned=$'\xe2\x80\xaegpj.exe\xe2\x81\xa6' control=$'\xc2\x9b2J' bytes=$'\xff\xfe'
evil="$escape$turned$control$bytes"
printf '<html><body><!--data--></body></html>' >page.html

# ---- names of files -------------------------------------------------------------------------

for verb in check derive eval simulate linearise steady 'lqr --inputs push'; do
    # shellcheck disable=SC2086
    run 4 $verb "$evil.yaml"
    plain out err
    err_has '\x1b[31m'
    err_has '\u202egpj'
    err_has '\xff\xfe.yaml'
done
cp swing.yaml "$evil.yaml"
for verb in check derive eval linearise; do
    run 0 $verb "$evil.yaml" --json
    plain out err
    check is_json out
done
run 0 simulate "$evil.yaml" -o "$evil.csv"
plain out err "$evil.json"
check is_json "$evil.json"
run 0 plot "$evil.csv" -y angle --title "$evil" -o "$evil.svg"
plain out err "$evil.svg"
run 0 view "$evil.csv" --model "$evil.yaml" --page page.html -o "$evil.html"
plain out err "$evil.html"
run 2 derive "$evil.yaml" -o "./$evil.yaml"
plain err
run 2 "$evil"
plain err
for words in "--$evil" "--set $evil" "--set m=$evil" "--set $evil=1" "--case $evil" "--allow-files"; do
    # shellcheck disable=SC2086
    run 2 check swing.yaml $words
    plain out err
done
run 2 plot run.csv --size "$evil"
plain err
what='one line stays one line'
run 4 check $'no\nsuch: all is well'
check test "$(wc -l <err)" -eq 1

# ---- what models say ------------------------------------------------------------------------

# says NAME: a model of that name, and with a case of it
says() {
    sed "s|^name: swing|name: \"$1\"|; s|^  plain:|  \"$1\":|" swing.yaml >says.yaml
}
says swing
run 0 simulate says.yaml -o says.csv
run 0 view says.csv --model says.yaml --page page.html -o says.html
scripts=$(grep -c '<script' says.html) # equations are one of them, where there are any
for name in '\u202egpj.exe\u2066' '\u009b2J' 'a\u200eb\u200fc\u061cd' '\u2028' '</script><script>alert(1)</script>' '<!--' ']]>&amp;\"'; do
    says "${name//\\/\\\\}"
    for verb in check derive eval 'simulate -o says.csv' linearise 'lqr --inputs push'; do
        # shellcheck disable=SC2086
        run 0 ${verb%% *} says.yaml ${verb#"${verb%% *}"}
        plain out err
    done
    plain says.json
    check is_json says.json
    run 0 derive says.yaml --json
    plain out
    check is_json out
    run 0 view says.csv --model says.yaml --page page.html -o says.html
    plain says.html
    what="elements of a page of $name"
    check test "$(grep -o '<[!/a-zA-Z][^ >]*' says.html | sort -u | paste -sd' ')" = '</body </html </script <body <html <script'
    check test "$(grep -c '<script' says.html)" -eq "$scripts"
    run 0 plot says.csv -y angle --title "$name" -o says.svg
    plain says.svg
    check test "$(grep -c '<script' says.svg)" -eq 0
    run 2 check says.yaml --case wrong
    plain err
done
says plain
for raw in $'\e' $'\x7f' $'\xc2\x9b' "$bytes" $'\xe2\x80\xae'; do
    printf 'trundle: 1\nname: "x"\nbodies: {a%s: {mas: 1}}\n' "$raw" >raw.yaml
    run 3 check raw.yaml
    plain out err
    printf 'trundle: 1\nbodies: {a: {mass: "1 + %s"}}\n' "$raw" >raw.yaml
    run 3 check raw.yaml
    plain out err
done

# ---- what runs of others say ----------------------------------------------------------------

run 0 simulate swing.yaml -q -o run.csv
{ printf 't,%s,"</title><script>",angle\n' "$escape$turned$control$bytes"; printf '0,1,2,3\n1,2,3,4\n'; } >evil.csv
run 0 plot evil.csv -o evil.svg
plain out err evil.svg
check test "$(grep -c '<script' evil.svg)" -eq 0
run 2 plot evil.csv -y nothing -o evil.svg
plain err
printf 't,x\n0,%s\n' "$evil" >evil.csv
run 3 plot evil.csv -o evil.svg
plain err
sed "1s/height/$escape$turned$bytes/" run.csv >cut.csv
run 0 view cut.csv --model swing.yaml --page page.html -o cut.html
plain cut.html err
printf '{"case": "%s", "settings": [{"name": "%s", "formula": "1"}]}' '\u001b[31m\u202e' '\u009b' >cut.json
run 2 view cut.csv --model swing.yaml --page page.html -o cut.html
plain err

# ---- and the code ---------------------------------------------------------------------------

what='words go through cli_say'
grep -n 'fprintf(stderr' "$reported"/../../src/cli/*.c | grep -v 'main.c:.*tr_shown' | grep '%s' >out
check test ! -s out

the_end
