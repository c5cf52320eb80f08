#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is installed for shells and for man: completion is asked as a shell would ask it, man pages are
# set without a warning and name every verb and option.    shell_test.sh TRUNDLE SHARE [full]
# `full`: in zsh and fish as well, and mandoc looks at the pages.
set -u
trundle=$(realpath "$1") share=$(realpath "$2") full=${3:-}
work=$(mktemp -d) && cd "$work" || exit 2
trap 'rm -rf "$work"' EXIT
export LC_ALL=C.UTF-8
failed=0
complain() { failed=$((failed + 1)); echo "FAILED: $*"; }
is() { [ "$2" = "$3" ] || complain "$1: '$2', not '$3'"; } # is WHAT FOUND WANTED

mkdir models "a folder"
touch models/bicycle.yaml models/bicycle.csv "a folder/x.yaml" run.csv notes.txt

# verbs and the options of each, as --help lists them
verbs=$("$trundle" --help | sed -n '/^usage/,/^  --/s/^  \([a-z]*\)  *.*/\1/p' | paste -sd' ')
options_of() { "$trundle" "$1" --help | sed -n '/^examples/q; s/^  \(-[-a-z]*\) .*/\1/p' | LC_ALL=C sort -u | paste -sd' '; }
[ "$(echo "$verbs" | wc -w)" -ge 10 ] || complain "verbs are: $verbs"

# ---- bash -----------------------------------------------------------------------------------

# shellcheck source=/dev/null
. "$share/bash-completion/completions/trundle"
# ask WORD...: what completes the last, sorted, in one line
ask() {
    COMP_WORDS=(trundle "$@") COMP_CWORD=$#
    COMPREPLY=()
    _trundle
    printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | paste -sd' '
}
is "bash: all verbs" "$(ask '')" "$(echo "$verbs --help --version" | tr ' ' '\n' | LC_ALL=C sort | paste -sd' ')"
is "bash: a verb" "$(ask sim)" simulate
for verb in $verbs; do
    is "bash: options of $verb" "$(ask "$verb" -)" "$(options_of "$verb")"
done
is "bash: a model" "$(ask simulate models/bi)" models/bicycle.yaml
is "bash: models and folders" "$(ask check '')" "a folder models"
is "bash: a run" "$(ask plot r)" run.csv
is "bash: words" "$(ask simulate models/bicycle.yaml --method r)" "rk4 rosenbrock"
is "bash: words behind =" "$(ask simulate --method = '')" "bdf erk euler lie pece rk4 rosenbrock"
is "bash: words at =" "$(ask check --evaluate =)" "interpreter native"
is "bash: words, and =" "$(ask check --order = 2)" 2
is "bash: any file" "$(ask simulate -o n)" notes.txt
is "bash: a folder" "$(ask check --allow-files a)" "a folder"
is "bash: a number" "$(ask simulate --end '')" ""
is "bash: nothing" "$(ask schema '')" ""
is "bash: no such verb" "$(ask nonsense '')" ""
is "bash: it is trundle's" "$(complete -p trundle)" "complete -o filenames -F _trundle trundle"

# ---- zsh and fish ---------------------------------------------------------------------------

zsh_file=$share/zsh/site-functions/_trundle fish_file=$share/fish/vendor_completions.d/trundle.fish
is "zsh: what it completes" "$(head -n 1 "$zsh_file")" "#compdef trundle"
for verb in $verbs; do
    grep -q "^    $verb)\$" "$zsh_file" || complain "zsh: no $verb"
    grep -q -- "-a $verb -d '" "$fish_file" || complain "fish: no $verb"
done

# in_zsh TEXT WANTED: whether a terminal shows what is wanted when TEXT and a tab are typed
in_zsh() {
    zsh -f <<END
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=('$share/zsh/site-functions' \\\$fpath); autoload -U compinit; compinit -u -D; cd '$work'; PS1='re''ady>'"
zpty -r -m shell all '*ready>*'
zpty -w -n shell "$1"\$'\t'
for ((i = 0; i < 150; i++)); do
    while zpty -r -t shell part; do shown+=\$part; done
    [[ \$shown == *"$2"* ]] && break
    sleep 0.1
done
zpty -d shell
[[ \$shown == *"$2"* ]]
END
}
in_fish() { fish --no-config -c "source $fish_file; complete -C '$1'" | cut -f1 | LC_ALL=C sort | paste -sd' '; }
if [ -n "$full" ]; then
    zsh -n "$zsh_file" || complain "zsh: wrong syntax"
    fish -n "$fish_file" || complain "fish: wrong syntax"
    in_zsh 'trundle sim' 'trundle simulate' || complain "zsh: no verb"
    in_zsh 'trundle simulate --metho' '--method' || complain "zsh: no option"
    in_zsh 'trundle simulate --method rk' 'rk4' || complain "zsh: no word"
    in_zsh 'trundle check models/bi' 'bicycle.yaml' || complain "zsh: no model"
    is "fish: a verb" "$(in_fish 'trundle sim')" simulate
    is "fish: an option" "$(in_fish 'trundle simulate --met')" --method
    is "fish: words" "$(in_fish 'trundle simulate --method r')" rk4
    is "fish: a folder" "$(in_fish 'trundle check --allow-files mo')" models/
fi

# ---- man ------------------------------------------------------------------------------------

# shown PAGE: as man shows it, without hyphens at the ends of lines
shown() { groff -ww -man -Tutf8 -P-c -P-b -P-o -P-u -rHY=0 -rLL=200n "$1" 2>warnings | sed 's/\x1b\[[0-9;]*m//g'; }
for verb in "" $verbs; do
    page=$share/man/man1/trundle${verb:+-$verb}.1
    shown "$page" >text
    [ ! -s warnings ] || complain "$page: $(cat warnings)"
    grep -q "^NAME" text || complain "$page: no name"
    [ -z "$full" ] || [ -z "$(mandoc -Tlint -W warning "$page" | grep -v 'missing date')" ] ||
        complain "$page: $(mandoc -Tlint -W warning "$page")"
    [ -n "$verb" ] || continue
    grep -q "trundle-$verb(1)" "$page" && complain "$page: names itself"
    for option in $(options_of "$verb"); do
        grep -qE "^ +$option( |\$)" text || complain "$page: no $option"
    done
    shown "$share/man/man1/trundle.1" | grep -q "trundle-$verb(1)" || complain "trundle.1: no $verb"
    grep -q "trundle $verb" text || complain "$page: no examples"
done

echo "$failed failed"
[ "$failed" -eq 0 ]
