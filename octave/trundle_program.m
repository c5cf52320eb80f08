% SPDX-License-Identifier: Apache-2.0
% Outputs of a model as functions of all its inputs, or their derivatives, made by program of trundle.
classdef trundle_program < handle
  properties (SetAccess = private)
    outputs = {}; % names of what it gives
    inputs = {};  % names of what it takes
    start = [];   % all inputs at the initial state, a row
    by = {};      % names of what derivatives are by
  end
  properties (Access = private, Hidden = true)
    id = uint64(0);
    sizes = [];
    guard = [];
  end
  methods
    function p = trundle_program(id, about)
      if nargin < 2
        error('trundle:usage', 'a program is made by program of a model');
      end
      p.id = id;
      p.outputs = about.outputs;
      p.inputs = about.inputs;
      p.start = about.start;
      p.by = about.by;
      p.sizes = about.sizes;
      p.guard = onCleanup(@() trundle_mex('free', id));
    end
    function free(p)
      % Frees the program; also done when the last variable that has it goes.
      trundle_mex('free', p.id);
    end
    function e = at(p, varargin)
      % A struct with a matrix for each output, at({'steer', 0.1}) at the initial state, where some
      % inputs have other numbers. Derivatives: a row for each number of the output (by rows, where
      % that is a matrix), a column for each of p.by.
      args = trundle.plain(varargin);
      numbers = trundle_mex('program_at', p.id, args{:});
      e = struct();
      n = 0;
      for k = 1:numel(p.outputs)
        shape = p.sizes(k, :);
        if ~isempty(p.by)
          shape = [prod(shape), numel(p.by)];
        end
        name = regexprep(p.outputs{k}, '[.()/]', '_');
        e.(name) = reshape(numbers(n + (1:prod(shape))), fliplr(shape)).';
        n = n + prod(shape);
      end
    end
    function numbers = many(p, x)
      % Rows of all numbers, the outputs one after the other, by rows, for rows of all inputs.
      numbers = trundle_mex('program_many', p.id, x);
    end
  end
end
