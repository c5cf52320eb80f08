#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What `equations --to latex` writes is a document that LaTeX sets without an error, and in which no
# line is wider than the page: of every bundled model, and of names and titles that mean something to
# LaTeX.    tests/latex_check.sh TRUNDLE ROOT        exits with 77 where there is no pdflatex
set -u
trundle=$(realpath "$1") root=$(realpath "$2")
command -v pdflatex >/dev/null || { echo "SKIPPED: there is no pdflatex (tools/setup check installs it)"; exit 77; }
work=$(mktemp -d) && cd "$work" || exit 2
trap 'rm -rf "$work"' EXIT
export trundle LC_ALL=C.UTF-8

# set_equations MODEL: complains, or says nothing
set_equations() {
    local model=$1 folder words
    folder=$(mktemp -d ./XXXXXX) && cd "$folder" || return
    words=$(timeout 120 "$trundle" equations "$model" --show M,c,Q,G,H,J,reduced,lambda,tau,energy \
        --to latex -q -o equations.tex 2>&1) || {
        case "$words" in *"equations are those of second order"*) return ;; esac
        echo "FAILED: $model: $words"
        return
    }
    timeout 120 pdflatex -interaction=nonstopmode -halt-on-error equations.tex >said 2>&1 ||
        echo "FAILED: $model: $(grep -m 1 '^!' said)"
    words=$(grep -m 1 -e 'Overfull .hbox' -e 'Missing character' equations.log) && echo "FAILED: $model: $words"
    if command -v pdftotext >/dev/null; then pdftotext equations.pdf; fi
    cd ..
}
export -f set_equations

# ---- names and titles -----------------------------------------------------------------------

wide=$(printf 'W%.0s' $(seq 100))
sixty=$(printf 'm%.0s' $(seq 60))
cat >'$x_1$ & <script> \input{secret} %#^~|{"é 🚲' <<END
trundle: 1
parameters: {$wide: 2, ${sixty}_i: 1, a_$sixty: 1, input: 1, alpha: 3, _x: 1, a__b: 1, end: 2, sin_: 1}
bodies:
  begin: {mass: $wide + ${sixty}_i*a_$sixty, joint: {type: prismatic, axis: "1, 0, 0", coordinate: document}}
  arm:
    parent: begin
    mass: input + alpha/(_x + 1e-9) + a__b*end*sin_
    com: 0, 0, 1e-7*$wide
    joint: {type: revolute, axis: "0, 1, 0", coordinate: q_$sixty}
roles: {document: {torque: "if(t < 1 && document >= 2, atan2(document, $wide), 3)"}}
END
echo '\errmessage{a file was read}' >secret.tex
for file in *'🚲'; do cp "$file" "$file.yaml" && set_equations "$PWD/$file.yaml"; done >found
if command -v pdftotext >/dev/null; then
    grep -qF '$x 1$ & <script> \input{secret} %#' ./*/equations.txt || echo "FAILED: the title is another: $(head -2 ./*/equations.txt)"
fi >>found

# ---- bundled models -------------------------------------------------------------------------

count=$(find "$root"/models -name '*.yaml' | wc -l)
[ "$count" -ge 80 ] || echo "FAILED: there are $count models" >>found
find "$root"/models -name '*.yaml' | sort | xargs -P "$(nproc)" -I{} bash -c 'set_equations {}' >>found
cat found
echo "$count models, $(ls ./*/equations.pdf | wc -l) documents, $(grep -c FAILED found) failures"
[ ! -s found ]
