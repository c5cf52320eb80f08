#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: exit codes, what goes to which stream, files, words.
# shellcheck source=cli.sh
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

# ---- verbs, help, options -------------------------------------------------------------------

run 2
no_data
err_has 'usage: trundle VERB MODEL'
run 0 --help
silent
out_has 'usage: trundle VERB MODEL'
for verb in check derive eval simulate linearise steady view; do
    out_has "  $verb "
done
out_has '  --case NAME'
out_has '  --order 1, 2'
check test -z "$(grep -e '^  --kind ' -e '^  --expand' -e '^  --no-run' out)" # of one or two verbs
run 2 help derrive
no_data
err_is "trundle: unknown verb 'derrive'; did you mean 'derive'?"
run 0 --version
out_has 'trundle '
for verb in check derive eval simulate steady; do
    run 0 "$verb" --help
    silent
    out_has "usage: trundle $verb MODEL"
    out_has "trundle $verb models/"
    cp out help
    run 0 help "$verb"
    check cmp out help
    run 0 "$verb" swing.yaml -h
    out_has "usage: trundle $verb MODEL"
    run 2 "$verb"
    no_data
    err_is "trundle: which model? usage: trundle $verb MODEL [options]"
    run 2 "$verb" swing.yaml other.yaml
    err_is "trundle: one model at a time: 'swing.yaml' and 'other.yaml'"
    run 2 "$verb" swing.yaml --jsno
    err_is "trundle: unknown option '--jsno'; did you mean '--json'?"
    run 2 "$verb" swing.yaml --whatever
    err_is "trundle: unknown option '--whatever'; trundle $verb --help lists all options"
    run 2 "$verb" swing.yaml --set
    err_is 'trundle: --set needs a value'
    run 2 "$verb" swing.yaml --json=yes
    err_is 'trundle: --json takes no value'
    run 4 "$verb" nothing.yaml
    no_data
    err_is "trundle: cannot read 'nothing.yaml': No such file or directory"
    run 4 "$verb" .
    err_is "trundle: cannot read '.': Is a directory"
    run 3 "$verb" /dev/null
    err_is '/dev/null:1:1: the file is empty'
done
run 2 chekc swing.yaml
no_data
err_is "trundle: unknown verb 'chekc'; did you mean 'check'?"
run 2 frobnicate swing.yaml
err_is "trundle: unknown verb 'frobnicate'; there are check, derive, eval, equations, export, simulate, sweep, linearise, steady, settle, lqr, fit, view, plot, schema"
run 2 --json check swing.yaml
err_is 'trundle: the verb comes first: trundle VERB MODEL --json'
run 2 check swing.yaml --end 3
err_is 'trundle: check takes no --end'

# ---- check, derive, eval --------------------------------------------------------------------

run 0 check swing.yaml
silent
out_has 'ok: 2 bodies, 2 degrees of freedom'
run 0 check --json swing.yaml
check is_json out

run 0 derive swing.yaml
silent
out_has 'swing'
run 0 derive swing.yaml --json
silent
check is_json out
keys_are 'bodies n s_p s_a rows m m_locked redundant antagonist hyperstatic hyperstatic_rows kernel independent kinematic dynamic operations nodes seconds verdict'
out_has '"rhs"'
out_has '"rhs_symbolic"'
cp out after
run 0 derive --json swing.yaml
keys_are "$(keys after)"

run 0 eval swing.yaml
silent
run 0 eval swing.yaml --json
silent
check is_json out
keys_are 'q v vdot lambda tau outputs solved open chosen residual'
out_has '"angle": 0.3'
out_has '"angle_rate": 0.1'
out_has '"cart": 0'
cp out first
run 0 eval --json swing.yaml -o -
check cmp out first
run 0 eval --json -o eval.json swing.yaml
no_data
check cmp eval.json first
no_temporaries

# ---- --set and --case -----------------------------------------------------------------------

run 0 eval swing.yaml --json --set m=3
out_has '"weight": 0.0625'
run 0 eval swing.yaml --json --set I=m/4
out_has '"weight": 0.5'
run 0 eval swing.yaml --json --set m=1 --set m=4 --set=l=1
out_has '"weight": 0.3333333333333333'
run 0 eval swing.yaml --json --set push=7
out_has '"cart": 7'
run 0 eval swing.yaml --json --case pushed
out_has '"cart": 3'
run 0 eval swing.yaml --json --set push=-1 --case=pushed
out_has '"cart": -1'
run 2 eval swing.yaml --set pusj=7
no_data
err_is "trundle: there is no parameter or input 'pusj'; did you mean 'push'?"
run 2 eval swing.yaml --set angle=7
err_is "trundle: there is no parameter or input 'angle': 'angle' is a coordinate; there are 'm', 'l', 'I', 'push'"
for wrong in m =3 m= =; do
    run 2 eval swing.yaml --set "$wrong"
    err_is "trundle: --set takes name=formula, not '$wrong'"
done
run 2 eval swing.yaml --set l=1 --set 'm=2*(1+'
no_data
err_is "trundle: --set: the formula ends where a number, a name or '(' is expected
  m=2*(1+
         ^"
run 2 eval swing.yaml --set m=1/0
err_is "trundle: --set: the parameter 'm' is not finite
  m=1/0
    ^"
run 2 eval swing.yaml --case pushd
err_is "trundle: there is no case 'pushd'; did you mean 'pushed'?"
run 2 eval swing.yaml --case nothing
err_is "trundle: there is no case 'nothing'; there are 'plain', 'pushed'"

# ---- mistakes in models ---------------------------------------------------------------------

# complains TEXT WORDS: of a model, with its line and a caret
complains() {
    printf '%b' "$1" >wrong.yaml
    run 3 check wrong.yaml
    no_data
    err_is "wrong.yaml:$2"
}
complains 'trundle: 1\nbodies:\n a: {mas: 1}\n' "3:6: unknown key 'mas' in 'a'; did you mean 'mass'?
   a: {mas: 1}
       ^"
complains 'trundle: 1\nbodies:\n  a:\n    mass: "1 + nil"\n' "4:16: unknown name 'nil'
      mass: \"1 + nil\"
                 ^"
complains 'trundle: 1\nbodies:\n  a: {com: "0, 0,\t1 + nil"}\n' "3:23: unknown name 'nil'
    a: {com: \"0, 0,	1 + nil\"}
                   	    ^"
complains 'trundle: 1\nname: "é→"\nbodies: {é: {mas: 1}}\n' "3:14: unknown key 'mas' in 'é'; did you mean 'mass'?
  bodies: {é: {mas: 1}}
               ^"
complains 'trundle: 1\r\nbodies: {a: {mas: 1}}\r\n' "2:14: unknown key 'mas' in 'a'; did you mean 'mass'?
  bodies: {a: {mas: 1}}
               ^"
complains '\xef\xbb\xbfname: a' "1:1: the file must begin with 'trundle: 1'
  name: a
  ^"
complains 'trundle: 1\nname: \x1b[31m' "2:7: this is not text: control characters are not allowed
  name: ?[31m
        ^"
{ printf 'trundle: 1\nbodies: {a: {mass: "'; printf '1 + %.0s' {1..200}; printf 'nil"}}\n'; } >long.yaml
run 3 check long.yaml
err_has "long.yaml:2:821: unknown name 'nil'"
check test "$(wc -L <err)" -lt 120
check test "$(sed -n 3p err)" = "$(printf '%62s^' '')"
printf 'trundle: 1\nbodies: {}\n' >none.yaml
run 3 check none.yaml
check grep -qE '^none.yaml(:1:1)?: ' err
what='a model from a pipe'
printf 'trundle: 1\nnam: a\n' | "$trundle" check /dev/stdin >out 2>err
check test $? -eq 3
err_is "/dev/stdin:2:1: unknown key 'nam' in 'model'; did you mean 'name'?"

# ---- constraints ----------------------------------------------------------------------------

tied gear.yaml 'couplings: {gear: {coordinate: x, equals: {y: 2}}}'
run 0 check gear.yaml
out_has '1 constraint row, 1 independent'
for verb in check derive eval simulate steady; do
    tied bad.yaml 'contacts: {edge: {kind: skate, body: aa}}'
    run 3 $verb bad.yaml
    no_data
    check test "$(head -n 1 err)" = "bad.yaml:5:38: there is no body 'aa'; did you mean 'a'?"
    tied bad.yaml 'couplings: {gear: {coordinate: x, equals: {x: 2}}}'
    run 3 $verb bad.yaml
    no_data
    check test "$(head -n 1 err)" = "bad.yaml:5:44: 'gear' couples 'x' to itself"
    tied bad.yaml 'constraints: {one: {position: x - y}, two: {position: x - y - 1}}'
    run 3 $verb bad.yaml
    no_data
    err_has "'one.position', 'two.position', off by 0.5"
    tied bad.yaml 'constraints: {one: {position: x}, two: {position: y}}'
    run 3 $verb bad.yaml
    case $verb in
    check | derive) out_has 'locked' ;;
    *) no_data ;;
    esac
    err_has 'bad.yaml:5:15: nothing can move: the constraints leave none of the 2 velocities free'
done
tied part.yaml 'constraints: {tie: {position: x - y}}' \
    'roles: {x: {motion: t}, y: {motion: "t + if(t < 1, 0, (t - 1)^3)"}}'
run 0 check part.yaml
run 3 simulate part.yaml --every 0.25 -o part.csv
no_data
err_has "the motions contradict the constraints at t = 1.0"
err_has "'tie.position' cannot all hold, off by "
check test "$(column 1 part.csv)" = '0 0.25 0.5 0.75 1'
check grep -q 'the motions contradict' part.json

# ---- files ----------------------------------------------------------------------------------

echo old >kept.csv
for wrong in '--method magic' '--end soon' '--case nothing'; do
    # shellcheck disable=SC2086
    run 2 simulate swing.yaml -o kept.csv $wrong
    check test "$(cat kept.csv)" = old
done
run 3 simulate none.yaml -o kept.csv
check test "$(cat kept.csv)" = old
no_temporaries
# What is read is not written over, whatever the verb.
cp swing.yaml precious.yaml
for verb in check derive eval simulate linearise 'lqr --inputs push' 'steady --hold cart_rate'; do
    # shellcheck disable=SC2086
    run 2 $verb precious.yaml -o ./precious.yaml
    no_data
    err_is "trundle: 'precious.yaml' would be overwritten: write to another file"
done
printf '<html><body><!--data--></body></html>' >page.html
run 2 simulate precious.yaml --report precious.yaml --page page.html -o unused.csv
run 2 linearise precious.yaml --sweep l=1:2:1 --plot precious.yaml
check cmp swing.yaml precious.yaml
run 2 simulate swing.yaml --report both.html --page page.html -o both.html
err_is "trundle: rows and report cannot both go to 'both.html'"
run 4 simulate swing.yaml -o /nowhere/run.csv
no_data
err_has "cannot write '/nowhere/run.csv': No such file or directory"
run 4 derive swing.yaml -o /nowhere/out.txt
err_has "cannot write '/nowhere/out.txt': No such file or directory"
run 4 simulate swing.yaml -o /nowhere/run.mat
err_has "cannot write '/nowhere/run.mat'"
if [ -w /dev/full ]; then
    run 4 derive swing.yaml -o /dev/full
    err_has 'No space left on device'
    for verb in check derive eval 'simulate --every 0.001'; do
        what="trundle $verb >/dev/full"
        : >out
        # shellcheck disable=SC2086
        "$trundle" $verb swing.yaml >/dev/full 2>err
        check test $? -eq 4
        err_has 'No space left on device'
    done
fi
mkdir shut
chmod 555 shut
if [ ! -w shut ]; then
    run 4 simulate swing.yaml -o shut/run.csv
    err_has 'Permission denied'
fi
run 0 simulate swing.yaml -q -o run.mat
silent
what='a .mat file'
check test "$(head -c 10 run.mat | tr -d '\0')" = 'MATLAB 5.0'
no_temporaries

the_end
