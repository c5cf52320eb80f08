#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The command line from outside: fits of a line, what they write, and bad input.
# shellcheck source=cli.sh
. "$(dirname "$(realpath "$0")")/cli.sh"

cat >line.yaml <<'END'
trundle: 1
parameters: {a: 1, idle: 3}
bodies:
  car: {joint: {type: prismatic, axis: "1, 0, 0", coordinate: x}, mass: 2}
initial: {x: 0, d(x): 1}
outputs: {scaled: a*x}
END
cat >log.csv <<'END'
t,x,seen
0,0.32,0.7
0.5,1.21,2.3
0.75,1.9,3.7
2,4.3,8.8
3,6.05,12.2
4.5,9.4,18.7
END
fit() { # STATUS OPTIONS...
    local wanted=$1
    shift
    run "$wanted" fit line.yaml "$@"
}

# ---- what it says and writes ----------------------------------------------------------------

fit 0 --data log.csv --free 'x,d(x)' --plot left.svg -o fit.yaml
err_is 'written to fit.yaml
written to left.svg'
out_has 'found    initial.x 0.2'
out_has 'column   x: 6 measurements'
check grep -q '^initial:$' fit.yaml
check grep -q '^  d(x): 1.99' fit.yaml
check grep -q '<svg' left.svg
cp fit.yaml before.yaml
# what was found, as a case of the model, fits at once
{ cat line.yaml; echo 'cases:'; echo '  found:'; sed 's/^/    /' fit.yaml; } >found.yaml
run 0 fit found.yaml --data log.csv --free 'x,d(x)' -q -o again.yaml
silent
no_data
run 0 fit found.yaml --data log.csv --free 'x,d(x)'
out_has 'took     0 iterations, 1 run'
fit 0 --data log.csv --free 'x,d(x),a' --match 'seen=2*a*x' --sd x=0.1 --sd seen=0.2 --prior a=1~0.5 --json
check is_json out
keys_are 'values covariance correlation untold columns measurements recordings chi_square freedom iterations runs'
out_has '"prior_sd": 0.5'
fit 0 --data log.csv --data log.csv --free 'd(x)' -o -
check test "$(sed -n 2p out)" = 'initial:'
fit 0 --data log.csv --free a,idle --match 'seen=a*idle' --columns x
err_has "warning: 'a' and 'idle' cannot be told apart"
err_has 'only a*idle can be told'
out_has 'which the data cannot tell'
fit 0 --data log.csv --free a,idle --match 'seen=a*idle' --columns x -q
silent

# what has no slope at the start of the search may have one later
sed 's/d(x): 1/d(x): 0/' line.yaml >rest.yaml
run 0 fit rest.yaml --data log.csv --free 'a,d(x)' --match 'seen=a*x'
silent
check grep -q '^found    a 2\.0' out
run 1 fit rest.yaml --data log.csv --free 'd(x),idle'
err_has "nothing that was recorded depends on 'idle'"

# ---- bad input ------------------------------------------------------------------------------

fit 2 --free x
err_has 'what was recorded? --data names a .csv file'
no_data
fit 2 --data log.csv
err_has 'what is to be found? --free names'
fit 4 --data nowhere.csv --free x
fit 1 --data log.csv --free idle
err_has "nothing that was recorded depends on 'idle'"
fit 2 --data log.csv --free nobody
err_has "there is no parameter, input or initial value 'nobody'"
fit 2 --data log.csv --free x,x
err_has 'free twice'
fit 2 --data log.csv --free x --prior-weight 1
err_has -- '--prior-weight goes with --inverse'
for prior in x=1 x=~1 x=1~ 'x=1~0' 'x=1~-1' 'x=a~1'; do
    fit 2 --data log.csv --free x --prior "$prior"
    err_has -- '--prior'
done
fit 2 --data log.csv --free x --prior x=1~1 --prior x=2~1
err_has 'has two priors'
fit 2 --data log.csv --free x --sd y=1
err_has "--sd: no recording has a column 'y'"
fit 2 --data log.csv --free x --sd x=0
err_has 'must be positive'
fit 2 --data log.csv --free x --match 'seen=2*y'
err_has "--match seen=2*y: unknown name 'y'"
fit 2 --data log.csv --free x --match 'unseen=x'
err_has "no recording has a column 'unseen'; did you mean 'seen'?"
fit 2 --data log.csv --free x --columns seen
err_has "'seen' is no column of the model"
fit 2 --data log.csv --free x --time clock
err_has "has no column 'clock' of times"
fit 2 --data log.csv --free x --from 5
err_has 'has no rows from t = 5'
fit 2 --data log.csv --free x --from 2 --to 1
fit 2 --data log.csv --free x --set nobody=1
err_has "there is no parameter or input 'nobody'"
fit 2 --data log.csv --free x -o fit.csv
err_has 'ends in .yaml'
fit 2 --data log.csv --free x --plot -
fit 2 --data log.csv --free x --most-iterations 1.5
fit 2 --data fit.yaml --free x -o fit.yaml
err_has 'would be overwritten'
printf 't,x\n0,1\n1,nan\n' >nan.csv
fit 3 --data nan.csv --free x
err_has "nan.csv:3: 'x' is not a number"
printf 't,x\n0,1\n1,far\n2,3\n' >text.csv
fit 3 --data text.csv --free x
err_has "text.csv:3: 'far' in column 'x' is no number"
printf 't,x,other,other\n0,1,2,3\n1,2,3,4\n2,3.1,4,5\n' >twice.csv
fit 0 --data twice.csv --free x
printf 't,x\n-1,1\n1,2\n' >early.csv
fit 3 --data early.csv --free x
err_has 'early.csv:2: t = -1 is before the run'

# ---- signals --------------------------------------------------------------------------------

printf 't,x\n0,1\n1,2\n10000,3\n' >long.csv
what='a fit that is interrupted'
"$trundle" fit line.yaml --data long.csv --free x --method rk4 --step 1e-4 -o fit.yaml >out 2>err &
in_work $!
sleep 0.1
kill -s INT $!
wait $!
check test $? -eq 130
err_has 'stopped in run 1'
no_data
check cmp fit.yaml before.yaml
no_temporaries
the_end
