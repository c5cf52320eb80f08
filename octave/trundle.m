% SPDX-License-Identifier: Apache-2.0
% A model of trundle in Octave and Matlab; docs/octave.md tells more.
%
%   m = trundle('models/bicycle.yaml', 'case', 'turn', 'set', struct('speed0', 5));
%   [r, certificate] = m.simulate('end', 5);     plot(r.t, r.roll)
%   run = m.open('method', 'rk4', 'step', 1e-3); run.set('steer_torque', 1); run.step(0.01);
%   l = m.linearise('reduce', true);             l.A, l.eigenvalues
classdef trundle < handle
  properties (SetAccess = private)
    file = '';    % or the text that the model came from
    options = {}; % that it was loaded with
  end
  properties (Access = private, Hidden = true)
    id = uint64(0);
    guard = [];
  end
  methods
    function m = trundle(file, varargin)
      % trundle(FILE, 'case', NAME, 'set', {NAME, VALUE, ...}, 'with', FILES, 'controls', NAMES,
      % 'outputs', {NAME, FORMULA, ...}, 'order', N, 'evaluate', HOW, 'allow_files', FOLDERS); a
      % file, or the text of one (with a newline in it).
      if nargin < 1
        error('trundle:usage', 'trundle(FILE, ...): which model?');
      end
      m.file = trundle.plain(file);
      m.options = trundle.plain(varargin);
      m.id = trundle_mex('load', m.file, m.options{:});
      id = m.id;
      m.guard = onCleanup(@() trundle_mex('free', id));
    end
    function free(m)
      % Frees the model; also done when the last variable that has it goes.
      trundle_mex('free', m.id);
    end
    function p = parameters(m)
      % A struct array: name, value, unit, doc, min, max.
      p = trundle_mex('inputs', m.id, 'parameter');
    end
    function p = inputs(m)
      % The same of inputs.
      p = trundle_mex('inputs', m.id, 'input');
    end
    function [names, units] = columns(m)
      % What simulate records: behind what open and batch have also sd(...) and cov(...).
      [names, units, more] = trundle_mex('columns', m.id);
      more = strsplit(more, char(10));
      for k = 1:numel(more) - 1 % each has the end of a line behind it
        of = strcmp(names, more{k}(4:end - 1)); % sd(NAME) is in the unit of NAME
        units = [units; [units(of); repmat({''}, ~any(of), 1)]];
        names = [names; more(k)];
      end
    end
    function [r, certificate] = simulate(m, varargin)
      % Columns of a run, called as in .mat files (lambda.rear.normal is lambda_rear_normal), and how
      % it went. Options: end, every, method, step, rtol, atol, most_steps, dense, no_project,
      % filter, no_deviations, sensitivity, output.
      args = trundle.plain(varargin);
      [r, certificate] = trundle_mex('simulate', m.id, args{:});
      if nargout > 1
        certificate = jsondecode(certificate);
      end
    end
    function report(m, file, varargin)
      % The page of a run, in which it can be played, plotted and downloaded. Options: those of simulate.
      if nargin < 2
        error('trundle:usage', 'report(FILE, ...): which file?');
      end
      args = trundle.plain(varargin);
      trundle_mex('report', m.id, trundle.plain(file), args{:});
    end
    function run = open(m, varargin)
      % A run that is stepped. Options: method, step, rtol, atol, dense, no_project.
      args = trundle.plain(varargin);
      run = trundle_run(trundle_mex('open', m.id, args{:}), trundle_mex('columns', m.id));
    end
    function b = batch(m, n, varargin)
      % n runs side by side, by rk4 or lie. Options: method, step, no_project, and set: a struct, or
      % a cell {NAME, VALUES, ...}, of one number for all or one for each run.
      if nargin < 2
        error('trundle:usage', 'batch(N, ...): how many runs?');
      end
      args = trundle.plain(varargin);
      set = {};
      for k = numel(args) - 1:-2:1
        if ischar(args{k}) && strcmp(args{k}, 'set')
          set = [trundle.pairs(args{k + 1}), set];
          args(k:k + 1) = [];
        end
      end
      b = trundle_batch(trundle_mex('batch', m.id, n, args{:}), trundle_mex('columns', m.id), n);
      for k = 1:2:numel(set)
        b.set(set{k}, set{k + 1});
      end
      if ~isempty(set)
        b.reset();
      end
    end
    function p = program(m, outputs, varargin)
      % Outputs of the equations as functions: p = m.program('M c'), p.at({'steer', 0.1}).M. Option:
      % by, the derivatives by inputs 'roll,m0', or by all positions, velocities, inputs or
      % parameters: q v u p.
      if nargin < 2
        error('trundle:usage', 'program(OUTPUTS, ...): of which outputs?');
      end
      args = trundle.plain(varargin);
      [id, about] = trundle_mex('program', m.id, trundle.plain(outputs), args{:});
      p = trundle_program(id, about);
    end
    function e = eval(m, outputs, changes)
      % A struct with a matrix for each of the outputs, m.eval('M c vdot', {'roll', 0.1}), at the
      % initial state, where some inputs have other numbers.
      if nargin < 3
        changes = {};
      end
      e = trundle_mex('eval', m.id, trundle.plain(outputs), trundle.plain(changes));
    end
    function l = linearise(m, varargin)
      % A, B, C, D, their names, eigenvalues. Options: reduce, step (then also Ad, Bd).
      args = trundle.plain(varargin);
      l = trundle_mex('linearise', m.id, args{:});
      l.eigenvalues = trundle.join(l.eigenvalues);
    end
    function l = locus(m, name, from, to, step, varargin)
      % Eigenvalues against a parameter or an input: values, eigenvalues by rows, modes, what moves in
      % each, unsteadiness, and critical: rows of value, frequency, 1 where it is stable before. Options,
      % beside a steady motion at each value: trim, free, hold.
      if nargin < 5
        error('trundle:usage', 'locus(NAME, FROM, TO, STEP, ...)');
      end
      args = trundle.plain(varargin);
      l = trundle_mex('locus', m.id, trundle.plain(name), from, to, step, args{:});
      l.eigenvalues = complex(l.eigenvalues(:, 1:2:end), l.eigenvalues(:, 2:2:end));
    end
    function s = steady(m, varargin)
      % A steady motion: state, eigenvalues, text, and fragment: for 'with'. Options: free, hold, trim.
      args = trundle.plain(varargin);
      s = trundle_mex('steady', m.id, args{:});
      s.eigenvalues = trundle.join(s.eigenvalues);
    end
    function l = lqr(m, varargin)
      % Feedback u = -K x, and fragment: for 'with'. Options: inputs, q, r, step.
      args = trundle.plain(varargin);
      l = trundle_mex('lqr', m.id, args{:});
      l.before = trundle.join(l.before);
      l.after = trundle.join(l.after);
    end
    function s = settle(m, varargin)
      % Poses on the ground, as columns. Options: by, hold, gap, weight, and at: a row of values of
      % `hold` for each pose.
      args = trundle.plain(varargin);
      s = trundle_mex('settle', m.id, args{:});
    end
    function f = fit(m, varargin)
      % Parameters from recordings: name, value, sd, covariance, chi_square, text, and fragment: for
      % 'with'. Options: data, free, columns, match, sd, prior, time, from, to, method, step, ...
      args = trundle.plain(varargin);
      f = trundle_mex('fit', m.id, m.options{:}, args{:});
    end
    function t = equations(m, varargin)
      % Equations as people write them. Options: show, language, style, explain, title.
      args = trundle.plain(varargin);
      t = trundle_mex('equations', m.id, m.options{:}, args{:});
    end
    function t = text(m, kind, varargin)
      % What `trundle check`, `derive` or `eval` says. Options: json.
      args = trundle.plain(varargin);
      t = trundle_mex('text', m.id, trundle.plain(kind), args{:});
    end
    function export(m, language, folder, varargin)
      % Code to take away. Options: name, fix, columns.
      args = trundle.plain(varargin);
      trundle_mex('export', m.id, trundle.plain(language), trundle.plain(folder), args{:});
    end
    function view(m, run, page)
      % A page to see a recorded .csv file move.
      trundle_mex('view', m.id, trundle.plain(run), trundle.plain(page));
    end
  end
  methods (Static, Hidden)
    function x = plain(x)
      % Matlab's strings as texts, wherever they stand
      if exist('convertContainedStringsToChars', 'builtin') || ...
          exist('convertContainedStringsToChars', 'file')
        x = convertContainedStringsToChars(x);
      end
    end
    function list = pairs(set)
      % {NAME, VALUES, ...} from a struct or a cell
      if isstruct(set) && isscalar(set)
        list = reshape([fieldnames(set), struct2cell(set)].', 1, []);
      elseif iscell(set) && mod(numel(set), 2) == 0
        list = reshape(set, 1, []);
      else
        error('trundle:usage', '''set'' is to be a struct, or a cell {name, values, ...}');
      end
    end
    function z = join(parts)
      z = complex(parts(:, 1), parts(:, 2));
    end
  end
end
