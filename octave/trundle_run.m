% SPDX-License-Identifier: Apache-2.0
% A run of a model on its way, made by open of trundle: at t = 0 first.
classdef trundle_run < handle
  properties (SetAccess = private)
    columns = {}; % names of what row gives
  end
  properties (Access = private, Hidden = true)
    id = uint64(0);
    guard = [];
  end
  methods
    function run = trundle_run(id, columns)
      if nargin < 2
        error('trundle:usage', 'a run is made by open of a model');
      end
      run.id = id;
      run.columns = columns;
      run.guard = onCleanup(@() trundle_mex('free', id));
    end
    function free(run)
      % Frees the run; also done when the last variable that has it goes.
      trundle_mex('free', run.id);
    end
    function set(run, varargin)
      % set(NAME, VALUE, ...) or set(STRUCT): inputs change at once, parameters and numbers of the
      % start (initial.NAME) when the run is reset.
      args = trundle.plain(varargin);
      if numel(args) == 1
        trundle_mex('set', run.id, args{1});
      else
        trundle_mex('set', run.id, args);
      end
    end
    function reset(run)
      % Starts anew at t = 0 with all that was set.
      trundle_mex('reset', run.id);
    end
    function advance(run, t)
      % Goes on to the time t.
      trundle_mex('advance', run.id, t);
    end
    function step(run, dt)
      % Goes on by dt. Many of them add up with rounding; advance does not.
      if ~(isnumeric(dt) && isscalar(dt) && isreal(dt) && isfinite(dt) && dt >= 0)
        error('trundle:usage', 'a step is a number of seconds, 0 or more');
      end
      trundle_mex('advance', run.id, trundle_mex('time', run.id) + double(dt));
    end
    function t = time(run)
      t = trundle_mex('time', run.id);
    end
    function x = row(run)
      % All columns, now.
      x = trundle_mex('row', run.id);
    end
    function varargout = get(run, varargin)
      % [a, b] = get(NAME, NAME): some of them.
      row = trundle_mex('row', run.id);
      args = trundle.plain(varargin);
      varargout = cell(1, numel(args));
      for k = 1:numel(args)
        if ~ischar(args{k}) || ~any(strcmp(args{k}, run.columns))
          error('trundle:usage', 'there is no column ''%s''', char(args{k}));
        end
        varargout{k} = row(find(strcmp(args{k}, run.columns), 1));
      end
    end
    function snapshot = save(run)
      % All that later numbers depend on, for restore.
      snapshot = trundle_mex('save', run.id);
    end
    function restore(run, snapshot)
      trundle_mex('restore', run.id, snapshot);
    end
  end
end
