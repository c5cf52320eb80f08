% SPDX-License-Identifier: Apache-2.0
% Many runs of a model side by side, made by batch of trundle. Each has the bits of a run of its own.
% Values are one number for all, or one for each run; WHERE is true or false for each run.
classdef trundle_batch < handle
  properties (SetAccess = private)
    columns = {}; % names of what row gives
    count = 0;    % of runs
  end
  properties (Access = private, Hidden = true)
    id = uint64(0);
    guard = [];
  end
  methods
    function b = trundle_batch(id, columns, count)
      if nargin < 3
        error('trundle:usage', 'many runs are made by batch of a model');
      end
      b.id = id;
      b.columns = columns;
      b.count = count;
      b.guard = onCleanup(@() trundle_mex('free', id));
    end
    function free(b)
      % Frees the runs; also done when the last variable that has them goes.
      trundle_mex('free', b.id);
    end
    function set(b, name, values, varargin)
      % set(NAME, VALUES, WHERE): inputs change at once, parameters and numbers of the start
      % (initial.NAME) when runs are reset.
      if nargin < 3
        error('trundle:usage', 'set(NAME, VALUES)');
      end
      trundle_mex('batch_set', b.id, trundle.plain(name), double(values), varargin{:});
    end
    function reset(b, varargin)
      % Starts anew at t = 0 with all that was set; reset(WHERE): some.
      trundle_mex('batch_reset', b.id, varargin{:});
    end
    function advance(b, t)
      % Goes on to the time t, one for all or one for each.
      trundle_mex('batch_advance', b.id, double(t));
    end
    function step(b, dt)
      % Each goes on by dt. Many of them add up with rounding; advance does not.
      trundle_mex('batch_step', b.id, dt);
    end
    function t = time(b)
      % Of each run; of one that failed, where it did.
      t = trundle_mex('batch_times', b.id);
    end
    function x = row(b)
      % All columns now, runs by columns; NaN for those that cannot go on.
      x = trundle_mex('batch_rows', b.id, 1:numel(b.columns));
    end
    function varargout = get(b, varargin)
      % [a, b] = get(NAME, NAME): some of them, a number for each run.
      args = trundle.plain(varargin);
      varargout = cell(1, numel(args));
      for k = 1:numel(args)
        if ~ischar(args{k}) || ~any(strcmp(args{k}, b.columns))
          error('trundle:usage', 'there is no column ''%s''', char(args{k}));
        end
        varargout{k} = trundle_mex('batch_rows', b.id, find(strcmp(args{k}, b.columns), 1));
      end
    end
    function words = failures(b)
      % Why each cannot go on until it is reset; '' of those that can.
      words = trundle_mex('batch_failures', b.id);
    end
    function snapshots = save(b)
      % A cell of snapshots, one of each run, as a run of its own saves it.
      snapshots = trundle_mex('batch_save', b.id);
    end
    function restore(b, snapshots, varargin)
      % restore(SNAPSHOTS, WHERE): back to what save gave; or to one snapshot, also of a run.
      if nargin < 2
        error('trundle:usage', 'restore(SNAPSHOTS)');
      end
      trundle_mex('batch_restore', b.id, snapshots, varargin{:});
    end
  end
end
