# SPDX-License-Identifier: Apache-2.0
"""trundle in real Octave: the same bits as the command line, .mat files as Octave reads them, what
is refused, Ctrl-C. Left out, with a word, where there is no Octave or no mex.h to compile with.

    octave_test.py TRUNDLE ROOT BUILD
"""
import math
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time

trundle, root, build = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
failures = 0
# A model, what the command line is told, the same for Octave, and its run
RUNS = [("bicycle", ["--case", "turn", "--set", "speed0=5", "--end", "1"],
         "trundle(file, 'case', 'turn', 'set', struct('speed0', 5))", "'end', 1"),
        ("hopping_wheel", ["--method", "rk4", "--step", "0.001", "--end", "1.5"],
         "trundle(file)", "'method', 'rk4', 'step', 0.001, 'end', 1.5"),
        ("cart_pole", ["--set", "tilt=0.1*3", "--sensitivity", "m,l", "--end", "0.5"],
         "trundle(file, 'set', {'tilt', '0.1*3'})", "'sensitivity', {'m', 'l'}, 'end', 0.5"),
        ("robot_satellite", ["--case", "drive", "--end", "3"], "trundle(file, 'case', \"drive\")", "'end', 3")]


def check(good, words):
    global failures
    if not good:
        failures += 1
        print("FAILED:", words)


def run(*words, cwd):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, timeout=300)
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-2000:])
        raise SystemExit(f"FAILED: {' '.join(map(str, words))}")
    return done.stdout


def octave(script, folder):
    (folder / "try_it.m").write_text(f"addpath('{build}/octave');\nroot = '{root}';\n{script}\n")
    return run("octave-cli", "-qf", "try_it.m", cwd=folder)


def numbers_of_csv(path):
    lines = path.read_text().splitlines()
    rows = [[float(word) for word in line.split(",")] for line in lines[1:]]
    return [row[k] for k in range(len(lines[0].split(","))) for row in rows]  # by columns


def same(a, b):
    return len(a) == len(b) and all(x == y or (math.isnan(x) and math.isnan(y)) for x, y in zip(a, b)) and \
        all(math.copysign(1, x) == math.copysign(1, y) for x, y in zip(a, b) if x == 0)


def written(path):
    data = path.read_bytes()
    return list(struct.unpack(f"={len(data) // 8}d", data))


# fields(s, file): all numbers of a struct, field by field
FIELDS = """
function fields(s, name)
  f = fopen(name, 'w');
  for k = fieldnames(s)'
    fwrite(f, s.(k{1})(:), 'double');
  end
  fclose(f);
end
"""


def check_runs(folder):
    """Columns that simulate gives, and those of a .mat file, are those of the .csv file, to the bit."""
    (folder / "fields.m").write_text(FIELDS)
    for name, words, loaded, simulated in RUNS:
        model = root / "models" / f"{name}.yaml"
        for end in ("csv", "mat"):
            run(trundle, "simulate", model, *words, "-q", "-o", f"{name}.{end}", cwd=folder)
        octave(f"""
file = '{model}'; m = {loaded};
[r, c] = m.simulate({simulated});
fields(r, '{name}.called'); seen = load('{name}.mat'); fields(seen, '{name}.loaded');
assert(isequal(sort(fieldnames(r)), sort(fieldnames(seen))), 'names of columns');
assert(numel(r.t) == c.rows && ischar(c.method), 'the certificate');""", folder)
        wanted = numbers_of_csv(folder / f"{name}.csv")
        for kind in ("called", "loaded"):
            check(same(written(folder / f"{name}.{kind}"), wanted), f"{name}: {kind} is not the .csv file")
        print(f"{name}: {len(wanted)} numbers, called and from .mat, are those of the .csv file")


def check_tables(folder):
    """.mat files of the other verbs, against their .csv files."""
    model = root / "models/bicycle.yaml"
    words = ["linearise", model, "--case", "straight", "--step", "0.01", "-q"]
    for end in ("csv", "mat"):
        run(trundle, *words, "-o", f"lin.{end}", cwd=folder)
    lines = [line.split(",") for line in (folder / "lin.csv").read_text().splitlines()[1:]]
    told = octave(f"""
seen = load('lin.mat'); m = trundle('{model}', 'case', 'straight'); l = m.linearise('step', 0.01);
for k = {{'A', 'B', 'C', 'D', 'Ad', 'Bd'}}
  if isfield(seen, k{{1}}), assert(isequal(seen.(k{{1}}), l.(k{{1}})), k{{1}}); end
  x = l.(k{{1}});
  for i = 1:rows(x), for j = 1:columns(x), printf('%s %s\\n', k{{1}}, num2hex(x(i, j))); end, end
end
printf('%s ', fieldnames(seen){{:}});
""", folder).splitlines()
    print("linear models in .mat files:", told[-1])
    check("A" in told[-1].split() and "B" in told[-1].split(), "lin.mat has no A and B")
    for matrix in "ABCD":
        # the .csv file leaves zeros out, or not: those that are there are compared
        got = [struct.unpack(">d", bytes.fromhex(line.split()[1]))[0] for line in told[:-1]
               if line.split()[0] == matrix]
        wanted = [float(line[3]) for line in lines if line[0] == matrix]
        check(same([x for x in got if x], [x for x in wanted if x]), f"{matrix} is not that of the .csv file")
    (folder / "places.csv").write_text("chassis.x,chassis.y\n1,0.2\n1.1,0.2\n1.2,0.25\n")
    for end in ("csv", "mat"):
        run(trundle, "settle", root / "models/car_on_hills.yaml", "--hold", "chassis.yaw=0.3", "--path", "places.csv",
            "-q", "-o", f"poses.{end}", cwd=folder)
    octave(f"""
car = trundle('{root}/models/car_on_hills.yaml');
x = car.settle('hold', {{'chassis.yaw=0.3', 'chassis.x', 'chassis.y'}}, 'at', [NaN 1 0.2; NaN 1.1 0.2; NaN 1.2 0.25]);
seen = load('poses.mat'); fields(seen, 'poses.loaded'); fields(x, 'poses.called');""", folder)
    wanted = numbers_of_csv(folder / "poses.csv")
    check(same(written(folder / "poses.loaded"), wanted), "poses in a .mat file")
    check(same(written(folder / "poses.called"), wanted), "poses that are called for")


CALLS = r"""
function must(good, words)
  if ~good, error('test:failed', '%s', words); end
end
b = fullfile(root, 'models', 'bicycle.yaml');
m = trundle(b, 'case', 'turn', 'controls', 'steer');
% Stepped: the bits of a simulation with the same steps, and again from a snapshot
[r, c] = m.simulate('method', 'rk4', 'step', 1e-3, 'every', 0.1, 'end', 0.5);
run = m.open('method', 'rk4', 'step', 1e-3);
for k = 1:5
  run.advance(k/10);
  must(isequal(run.get('roll'), r.roll(k + 1)), 'a stepped run');
  if k == 2, s = run.save(); end
end
last = run.row();
run.restore(s); must(run.time() == 0.2, 'restored');
run.advance(0.5); must(isequal(run.row(), last), 'again from a snapshot');
run.reset(); must(run.time() == 0, 'reset');
run.set('initial.roll', 0.1, 'steer_torque', 2); run.reset();
must(abs(run.get('roll') - 0.1) < 1e-9, 'another start');
% A run outlives the variable of its model.
id = trundle_mex('load', b); other = trundle_mex('open', id); trundle_mex('free', id);
trundle_mex('advance', other, 0.01); trundle_mex('free', other); trundle_mex('free', other);
% Parameters, inputs, columns
p = m.parameters(); k = find(strcmp({p.name}, 'w'));
must(p(k).value == 1.02 && strcmp(p(k).unit, 'm') && p(k).min == 0.5 && p(k).max == 2, 'parameters');
must(any(strcmp({m.inputs().name}, 'torque.steer')), 'inputs');
[names, units] = m.columns(); must(strcmp(names{1}, 't') && strcmp(units{1}, 's'), 'columns');
sat = trundle(fullfile(root, 'models', 'robot_satellite.yaml')); [names, units] = sat.columns(); flown = sat.simulate('end', 0.1);
must(isequal(size(names), size(units)) && numel(names) == numel(fieldnames(flown)), 'columns of deviations');
k = find(strcmp(names, 'sd(body.x)')); must(numel(k) == 1 && strcmp(units{k}, 'm'), 'the unit of a deviation');
sat = sat.open(); must(numel(sat.row()) == numel(sat.columns) && numel(names) > numel(sat.columns), 'columns of a run');
clear sat
% Functions: those of a linear model, by differences
q = trundle(fullfile(root, 'models', 'cart_pole.yaml'), 'set', struct('tilt', 0));
e = q.eval('M vdot', {'angle', 0.2}); must(isequal(size(e.M), [2 2]) && isequal(size(e.vdot), [2 1]), 'sizes');
l = q.linearise(); h = 1e-6;
up = q.eval('vdot', {'angle', h}); down = q.eval('vdot', {'angle', -h});
must(norm((up.vdot - down.vdot)/(2*h) - l.A(3:4, 2)) < 1e-6, 'slopes');
must(norm(sort(real(eig(l.A))) - sort(real(l.eigenvalues))) < 1e-6, 'eigenvalues');
% Feedback, and a run with it
s = trundle(fullfile(root, 'models', 'segway.yaml'), 'case', 'fall', 'set', struct('pitch0', 0), 'controls', 'left,right');
g = s.lqr('inputs', {'left', 'right'}, 'q', 'way=20');
must(max(real(g.after)) < 0 && norm(eig(g.A - g.B*g.K) - g.after) >= 0, 'lqr');
must(norm(sort(real(eig(g.A - g.B*g.K))) - sort(real(g.after))) < 1e-6, 'closed loop');
stands = trundle(s.file, 'case', 'fall', 'with', g.fragment).simulate('end', 5);
must(abs(stands.pitch(end)) < 1e-2, 'it stands');
% Many runs side by side, with the bits of runs of their own, whose snapshots are theirs
b5 = m.batch(5, 'step', 1e-3, 'set', struct('m0', 80:84));
b5.set('steer_torque', (1:5)'); b5.step(0.013); b5.step(0.02);
for k = 1:5
  one = trundle(b, 'case', 'turn', 'controls', 'steer', 'set', {'m0', 79 + k}).open('method', 'rk4', 'step', 1e-3);
  one.set('steer_torque', k); one.step(0.013); one.step(0.02);
  rows = b5.row(); must(isequal(rows(k, :), one.row()), 'a run of a batch');
end
snapshots = b5.save(); b5.advance(0.1); last = b5.row();
must(isequal(b5.time(), 0.1*ones(5, 1)) && isequal(b5.get('t'), b5.time()), 'times');
b5.restore(snapshots); must(isequal(b5.time(), (0.013 + 0.02)*ones(5, 1)), 'many restored');
b5.advance(0.1); must(isequal(b5.row(), last), 'many again from snapshots');
mine = m.open('method', 'rk4', 'step', 1e-3); mine.restore(snapshots{2}); mine.advance(0.1);
must(isequal(mine.row(), last(2, :)), 'a run from a snapshot of a batch');
b5.restore(mine.save(), logical([0 0 0 1 0])); rows = b5.row();
must(isequal(rows(4, :), last(2, :)) && isequal(rows(5, :), last(5, :)), 'one of a batch from a run');
b5.reset(b5.get('t') > 1); must(all(b5.time() == 0.1), 'none of them'); b5.reset([1 0 0 0 0]);
must(isequal(b5.time() > 0, logical([0 1 1 1 1]')) && all(cellfun(@isempty, b5.failures())), 'one reset');
% Functions that are kept, and exact derivatives
p = q.program('M vdot'); e = p.at({'angle', 0.2}); must(isequal(e, q.eval('M vdot', {'angle', 0.2})), 'a program');
must(isequal(size(p.start), [1 numel(p.inputs)]) && isempty(p.by), 'what a program takes');
x = [p.start; p.start]; x(2, strcmp(p.inputs, 'angle')) = 0.2; y = p.many(x);
must(isequal(reshape(y(2, 1:4), 2, 2).', e.M) && isequal(y(2, 5:6).', e.vdot), 'rows of a program');
d = q.program('M,vdot', 'by', {'q', 'l'}); must(isequal(d.by, {'x'; 'angle'; 'l'}), 'by'); e = d.at();
must(isequal(size(e.M), [4 3]) && norm(e.vdot(:, 2) - l.A(3:4, 2)) < 1e-12, 'derivatives');
half = p.start(strcmp(p.inputs, 'l')); up = q.eval('M', {'l', half + h}); down = q.eval('M', {'l', half - h});
must(norm(reshape(e.M(:, 3), 2, 2).' - (up.M - down.M)/(2*h)) < 1e-8, 'derivatives by rows');
% Steady motions, poses, fits
c = trundle(b, 'case', 'circle'); f = c.steady('hold', {'roll=0.1'});
must(~isempty(strfind(f.fragment, 'initial:')) && isreal(f.state.steer), 'steady');
car = trundle(fullfile(root, 'models', 'car_on_hills.yaml'));
x = car.settle('hold', {'chassis.x', 'chassis.y', 'chassis.yaw'}, 'at', [1 0.2 0.3; 1.1 0.2 0.3]);
"""


def check_calls(folder):
    told = octave(CALLS + r"""
printf('%s\n', num2hex(x.chassis_z)');
d = trundle(fullfile(root, 'models', 'robot_differential.yaml'), 'case', 'log');
f = d.fit('data', fullfile(root, 'models', 'robot_differential_seen.csv'), 'free', 'R,b');
must(numel(f.value) == 2 && all(f.sd > 0) && isequal(size(f.covariance), [2 2]), 'fit');
printf('%s\n', num2hex(f.value(1)));
must(isfield(q.eval([repmat('M ', 1, 700) 'kinetic']), 'kinetic'), 'a long list');
t = q.equations('show', 'M', 'language', 'latex'); must(~isempty(strfind(t, '\cos')), 'equations');
t = q.equations('show', 'c'); must(~isempty(strfind(t, 'g*')), 'gravity has a name');
must(~isempty(strfind(q.text('check'), 'degrees of freedom')), 'check');
must(isstruct(jsondecode(q.text('eval', 'json', true))), 'eval');
q.export('c', 'pole_in_c', 'name', 'pole'); must(exist('pole_in_c/pole.h', 'file') == 2, 'export');
% Loci; pages; warnings
l = trundle(b, 'case', 'straight').locus('speed0', 4, 6, 0.5);
must(isequal(l.values, (4:0.5:6)') && isequal(size(l.eigenvalues), [5 numel(l.modes)]) && columns(l.critical) == 3, 'a locus');
must(any(~cellfun(@isempty, strfind(l.modes, 'weave'))) && ~isreal(l.eigenvalues), 'its modes');
one = trundle(b, 'case', 'straight', 'set', struct('speed0', 5)).linearise('reduce', true).eigenvalues;
must(all(min(abs(l.eigenvalues(3, :).' - one.'), [], 2) < 1e-6), 'eigenvalues of a locus');
try
  q.report('pole.html', 'end', 0.5); must(exist('pole.html', 'file') == 2, 'report');
catch wrong
  must(~isempty(strfind(wrong.message, 'page')), wrong.message); % built without it
end
lastwarn(''); tipped = trundle(b, 'case', 'turn', 'set', struct('speed0', 5)); [r, certificate] = tipped.simulate('end', 1);
[words, id] = lastwarn(); must(~isempty(strfind(words, 'would lift off')) && strcmp(id, 'trundle:warning'), 'a warning of a run');
lastwarn(''); trundle(fullfile(root, 'models', 'four_bar.yaml')).export('python', 'four_bar_in_python');
must(~isempty(strfind(lastwarn(), 'other velocities become independent')), 'a warning of an export');
lastwarn(''); q.simulate('end', 0.1); must(isempty(lastwarn()), 'no warning');
% Runs that fail stay where they failed, and others go on
dying = trundle(sprintf(['trundle: 1\nparameters: {dead: 9}\ninputs: {push: {value: 0, min: -2, max: 2}}\n' ...
  'bodies:\n  point: {joint: {type: prismatic, axis: "0, 0, 1", coordinate: z}, mass: 1}\n' ...
  'forces: {pull: {body: point, force: "0, 0, push + sqrt(dead - t)"}}\n']));
b3 = dying.batch(3, 'step', 0.01, 'set', struct('dead', [0.25 9 0.25])); b3.advance(1); t = b3.time();
must(t(2) == 1 && t(1) == t(3) && t(1) > 0.2 && t(1) < 0.3, 'where they failed'); b3.step(0.5);
must(isequal(b3.time(), [t(1); 1.5; t(1)]), 'times of runs that failed');
% All numbers are looked at before any is set
b3.reset(); wrong = '';
try, b3.set('push', [1 3 1]); catch wrong, wrong = wrong.message; end
must(~isempty(strfind(wrong, 'run 1: ')), 'the run that is refused'); b3.step(0.1);
still = dying.open('method', 'rk4', 'step', 0.01); still.step(0.1);
must(isequal(b3.get('z')(2), still.get('z')), 'nothing was set');
printf('all calls\n');
""", folder)
    check("all calls" in told, "calls: " + told[-500:])


REFUSED = r"""
b = fullfile(root, 'models', 'bicycle.yaml');
m = trundle(b, 'case', 'turn'); run = m.open('method', 'rk4');
gone = trundle(b); gone.free(); gone_run = m.open(); gone_run.free();
b_id = trundle_mex('batch', trundle_mex('load', b), 2); many = m.batch(3); gone_many = m.batch(2); gone_many.free(); p = m.program('vdot');
kept = many.save(); bad = kept; bad{2}(50) = bitxor(bad{2}(50), 1);
calls = {
  @() trundle(), 'which model';
  @() trundle(3), 'text';
  @() trundle('nothing.yaml'), 'nothing.yaml';
  @() trundle(b, 'case', 'trun'), 'turn';
  @() trundle(b, 'csae', 'turn'), 'is ''case'' meant';
  @() trundle(b, 'case'), 'names and values';
  @() trundle(b, 'case set', 'turn'), 'no option';
  @() trundle(b, 'case', 1), 'text';
  @() trundle(b, 'set', {'speed0'}), 'struct, or a cell';
  @() trundle(b, 'set', {1, 2}), 'text';
  @() trundle(b, 'set', {'speed0', NaN}), 'not finite';
  @() trundle(b, 'set', {'speed0', [1 2]}), 'one number';
  @() trundle(b, 'set', {'speed0', '1 +'}), '''set'', speed0 = 1 +';
  @() trundle(b, 'set', struct('nothing', 1)), 'nothing';
  @() trundle(b, 'order', 7), 'order';
  @() trundle(b, 'with', 'nothing.yaml'), 'nothing.yaml';
  @() trundle(b, 'with', sprintf('initial:\n  nothing: 1\n')), '''with'':2';
  @() trundle(sprintf('trundle: 1\nbodys: 3\n')), 'model:2:1';
  @() trundle(['a'; 'b']), 'text';
  @() trundle(['a' char(0) 'b']), 'character';
  @() gone.simulate(), 'freed';
  @() gone.open(), 'freed';
  @() gone_run.row(), 'freed';
  @() gone_run.step(0.1), 'freed';
  @() m.simulate('end', 'x'), 'one number';
  @() m.simulate('end', -1), 'end';
  @() m.simulate('method', 'magic'), 'magic';
  @() m.simulate('sensitivity', 'nothing'), 'nothing';
  @() m.simulate('end', 1i), 'one number';
  @() m.simulate('dense', 3), 'true or false';
  @() m.simulate('end', {}), 'one number';
  @() m.simulate('every', 0), 'positive';
  @() m.simulate('end', NaN), 'not finite';
  @() m.simulate('most_steps', 3), ': most_steps sets';
  @() trundle(sprintf('trundle: 1\ntables: {f: {file: /etc/passwd, x: a, value: b}}\nbodies: {a: {mass: 1}}\n')), ': allow_files DIR';
  @() run.advance(NaN), 'not finite';
  @() trundle_mex('inputs', uint64(1), 'thing'), 'parameter';
  @() m.open('method', 'magic'), 'magic';
  @() m.open('step', -1, 'method', 'rk4'), 'step';
  @() run.set('nothing', 1), 'nothing';
  @() run.set('steer_torque', 'a + b'), 'numbers, not formulas';
  @() run.set('steer_torque'), 'struct, or a cell';
  @() run.get('nothing'), 'nothing';
  @() run.step(-1), 'seconds';
  @() run.advance(Inf), 'finite';
  @() run.advance(-1), 'cannot go on';
  @() run.restore(uint8(1:100)), 'bytes are others';
  @() run.restore(1:100), 'what save gave';
  @() m.eval('nothing'), 'nothing';
  @() m.eval('vdot', {'steerr', 1}), 'is ''steer';
  @() m.eval('vdot', {'steer', '1 + 1'}), 'no formulas';
  @() m.eval(3), 'text';
  @() m.linearise('step', 0), 'above 0';
  @() m.lqr('inputs', 'nothing'), 'nothing';
  @() m.lqr(), 'inputs';
  @() m.settle('hold', 'nothing=1'), 'nothing';
  @() m.settle('at', [1 2]), 'column for each';
  @() m.settle('at', 'x'), 'matrix';
  @() m.steady('hold', {'nothing=1'}), 'nothing';
  @() m.steady('hold', {'nothing'}), ' hold ''nothing';
  @() m.fit('free', 'w'), 'recorded';
  @() m.fit('data', 'nothing.csv', 'free', 'w'), 'nothing.csv';
  @() m.equations('show', 'X'), 'X';
  @() m.equations('language', 'klingon'), 'klingon';
  @() m.text('poem'), 'check';
  @() m.export('klingon', 'folder'), 'klingon';
  @() trundle_mex(), 'text';
  @() trundle_mex('nothing'), 'no verb';
  @() trundle_mex('simulate'), 'no model';
  @() trundle_mex('simulate', 1), 'no model';
  @() trundle_mex('simulate', uint64([1 2])), 'no model';
  @() trundle_mex('simulate', uint64(99999)), 'no model';
  @() trundle_mex('row', uint64(1)), 'is for a run';
  @() trundle_mex('text', uint64(1)), 'missing';
  @() trundle_mex('eval', uint64(1)), 'text';
  @() trundle_mex('load'), 'missing';
  @() trundle_mex('view', uint64(1)), 'text';
  @() trundle_mex('export', uint64(1), 'c'), 'folder';
  @() trundle_run(), 'open';
  @() trundle_batch(), 'batch';
  @() trundle_program(), 'program';
  @() m.report(), 'which file';
  @() m.report(3), 'text';
  @() m.report('x.html', 'every', 0), 'positive';
  @() m.report('/nonexistent/x.html', 'end', 0.1), 'x.html';
  @() m.locus('speed0'), 'STEP';
  @() m.locus('speed0', 4, 6, 'x'), 'one number';
  @() m.locus('nothing', 4, 6, 1), 'nothing';
  @() trundle_mex('report', uint64(1)), 'missing';
  @() trundle_mex('locus', uint64(1), 'speed0'), 'missing';
  @() m.batch(), 'how many';
  @() m.batch(0), '1 run at least';
  @() m.batch(2.5), '1 run at least';
  @() m.batch('x'), 'one number';
  @() m.batch(3, 'method', 'erk'), 'by rk4 or lie';
  @() m.batch(3, 'set', {'m0'}), 'struct, or a cell';
  @() m.batch(3, 'set', struct('m00', 1)), 'm00';
  @() m.batch(3, 'sett', 1), 'no option';
  @() m.batch(3, 'set', struct('m0', [80 81])), 'one for each run';
  @() many.set('steer_torque', [1 2]), '3, one for each run';
  @() many.set('steer_torque', NaN), 'not finite';
  @() many.set('steer_torque', 1i), 'one for each run';
  @() many.set('steer_torque', 1, [1 0]), 'each of 3';
  @() many.set('nothing', 1), 'nothing';
  @() many.set('steer_torque'), 'VALUES';
  @() many.get('nothing'), 'nothing';
  @() many.step(-1), '0 or more';
  @() many.step([1 2 3]), 'one number';
  @() many.advance(Inf), 'cannot go on';
  @() many.advance([1 2]), 'one for each run';
  @() many.restore(kept(1:2)), 'cell of 3';
  @() many.restore(bad), 'bytes are others';
  @() many.restore(3), 'what save gave';
  @() many.restore(), 'SNAPSHOTS';
  @() gone_many.step(0.1), 'freed';
  @() m.program(), 'which outputs';
  @() m.program('nothing'), 'nothing';
  @() m.program('vdot', 'by', 'nothing'), 'nothing';
  @() p.at({'steerr', 1}), 'is ''steer';
  @() p.many([1 2]), 'rows of all';
  @() trundle_mex('batch_rows', uint64(1)), 'not for a model';
  @() trundle_mex('batch_rows', b_id, 99999), 'no column';
  @() trundle_mex('batch_rows', b_id, NaN), 'no column';
  @() trundle_mex('batch_rows', b_id), 'which columns';
};
for k = 1:rows(calls)
  words = '';
  try
    calls{k, 1}();
  catch wrong
    words = wrong.message;
    if ~strncmp(wrong.identifier, 'trundle:', 8), words = ['not ours: ' words]; end
  end
  if isempty(words) || isempty(strfind(words, calls{k, 2})) || strncmp(words, 'not', 3)
    printf('WRONG: %s: %s\n', func2str(calls{k, 1}), words);
  end
end
s = run.save(); s(end - 20) = bitxor(s(end - 20), 1);
try, run.restore(s); printf('WRONG: altered bytes\n'); catch, end
other = trundle(fullfile(root, 'models', 'cart_pole.yaml')).open('method', 'rk4');
try, other.restore(run.save()); printf('WRONG: another model''s snapshot\n'); catch, end
run.step(0.01); printf('refused %d\n', rows(calls));
file = [root '/models/cart_pole.yaml']; save file.txt file, clear all, load file.txt, m = trundle(file); m.simulate('end', 0.1); printf('and lives\n');
"""


def check_refusals(folder):
    told = octave(REFUSED, folder)
    check("WRONG" not in told and "refused" in told and "and lives" in told, "what is refused:\n" + told[-3000:])
    print(told.strip())


def check_interrupt(folder):
    """Ctrl-C stops a run, a stepped run and nothing else: the interpreter goes on."""
    (folder / "long.m").write_text(f"""
addpath('{build}/octave');
m = trundle('{root}/models/double_pendulum.yaml'); run = m.open();
many = m.batch(20);
for act = {{@() m.simulate('end', 1e6, 'every', 1e3), @() run.advance(1e6), @() many.advance(1e6)}}
  printf('go\\n'); fflush(stdout);
  try
    act{{1}}(); printf('WRONG: it came to its end\\n');
  catch wrong
    printf('stopped: %s\\n', wrong.message); fflush(stdout);
  end
end
r = m.simulate('end', 0.1); printf('goes on %d\\n', numel(r.t) > 1); fflush(stdout);
""")
    with subprocess.Popen(["octave-cli", "-qf", "long.m"], cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        said, clock = [], threading.Timer(60, process.kill)
        clock.start()
        for line in process.stdout:
            said.append(line.strip())
            if line.startswith("go\n"):
                time.sleep(0.3)
                process.send_signal(signal.SIGINT)
        clock.cancel()
    said = [line for line in said if line]
    check([line for line in said if "stopped" in line and "interrupted" in line] == said[1:6:2] and
          said[-1:] == ["goes on 1"], f"Ctrl-C: {said}")


UNSEEN = "if any(strcmp(available_graphics_toolkits(), 'gnuplot')), graphics_toolkit('gnuplot'); end\n" \
         "set(0, 'DefaultFigureVisible', 'off');\n"


def draws(folder):
    """Whether Octave has what it takes to plot, which is none of trundle's business."""
    (folder / "draws.m").write_text(UNSEEN + "plot(1:2, 1:2); printf('drawn\\n');\n")
    done = subprocess.run(["octave-cli", "-qf", "draws.m"], cwd=folder, capture_output=True, text=True, timeout=300)
    return "drawn" in done.stdout


def check_documents(folder):
    """The blocks of docs/octave.md, one after the other, where they say that they are."""
    blocks = re.findall(r"^```octave\n(.*?)^```", (root / "docs/octave.md").read_text(), re.M | re.S)
    check(len(blocks) == 5, f"docs/octave.md has {len(blocks)} blocks")
    for name, there in (("models", root / "models"), ("build", build)):
        (folder / name).symlink_to(there)
    whole = "".join(blocks)
    if not draws(folder):
        print("plot is left out of docs/octave.md: Octave has no toolkit here that draws (tools/setup octave installs one)")
        whole = re.sub(r"^plot\(.*\n", "", whole, flags=re.M)
    (folder / "document.m").write_text(f"{UNSEEN}{whole}\nprintf('all blocks to %g s\\n', run.time());\n")
    told = run("octave-cli", "-qf", "document.m", cwd=folder)
    check("all blocks to 5 s" in told, "docs/octave.md: " + told[-500:])


def main():
    if not shutil.which("octave-cli") or not (build / "octave/trundle_mex.mex").exists():
        print("Octave, or its mex.h, is missing: nothing is tested (make octave installs it)")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for act in (check_runs, check_tables, check_calls, check_refusals, check_interrupt, check_documents):
            act(folder)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
