// SPDX-License-Identifier: Apache-2.0
// What the physics refuses, word for word and with its place; and what it just takes.
#include "models.h"

// ---- what is refused -----------------------------------------------------------------------

static void check_refusal(const char *rest, int line, int column, const char *words)
{
    char text[2000];
    tr_error err = {0};
    snprintf(text, sizeof text, "trundle: 1\n%s", rest);
    tr_model *model = tr_model_parse(text, &err);
    assert_non_null(model);
    tr_system *system = tr_derive(model, NULL, &err);
    tr_model_free(model);
    if (system || err.status != TR_INVALID || err.line != line || err.column != column ||
        strcmp(err.text, words) != 0)
        fail_msg("%s%d:%d: %s, not\n%d:%d: %s", text, err.line, err.column, err.text, line, column,
                 words);
}

// Lines count from the line "trundle: 1", which is the first of each.
static const struct {
    const char *text;
    int line, column;
    const char *words;
} refusals[] = {
    {"bodies:\n"
     "  frame: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n"
     "  fork: {parent: fram, joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1}\n",
     4, 18, "'fork' hangs from 'fram', which is not a body; did you mean 'frame'?"},
    {"bodies:\n"
     "  fork:\n"
     "    parent: elephant\n"
     "    mass: 1\n",
     4, 13, "'fork' hangs from 'elephant', which is not a body; there is 'fork'"},
    {"bodies:\n"
     "  a: {parent: b, mass: 1}\n"
     "  b: {parent: c, mass: 1}\n"
     "  c: {parent: a, mass: 1}\n",
     3, 15, "'a' hangs from itself, through its parents"},
    {"bodies:\n"
     "  a:\n"
     "    parent: a\n"
     "    mass: 1\n",
     4, 13, "'a' hangs from itself, through its parents"},
    {"parameters:\n"
     "  a: 2*b\n"
     "  b: c + 1\n"
     "  c: a\n"
     "bodies:\n"
     "  x: {mass: a}\n",
     3, 6, "the parameter 'a' depends on itself"},
    {"parameters:\n"
     "  length: 2\n"
     "  b: 2*lenght\n"
     "bodies:\n"
     "  x: {mass: 1}\n",
     4, 8, "unknown name 'lenght'; did you mean 'length'?"},
    {"bodies:\n"
     "  x: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, xy: 5}}\n",
     3, 46,
     "no body can have the inertia of 'x': a product of inertia is too large for its two "
     "moments"},
    {"bodies:\n"
     "  x: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, shapes: {s: {type: "
     "spher}}}\n",
     3, 88, "unknown shape 'spher'; did you mean 'sphere'?"},
    {"bodies:\n"
     "  x: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}, shapes: {s: {radius: "
     "-1}}}\n",
     3, 90, "the radius of a shape must be positive"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 1}\n"
     "roles: {x: {torque: 1}, s: {motion: t}}\n",
     4, 25, "'x' and 's' are one joint, which has one role"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 1}\n"
     "outputs: {energy.kinetic: 3}\n",
     4, 11, "names that begin with 'energy.' are for results"},
    {"bodies:\n"
     "  x: {mass: 2 + foo}\n",
     3, 17, "unknown name 'foo'"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2 + s}\n",
     3, 75, "'s' is not a parameter: this must be constant"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2 + t}\n",
     3, 75, "'t' is not a parameter: this must be constant"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: x.z}\n",
     3, 56, "'x.z' is not a parameter: this must be constant"},
    {"parameters: {s: 1}\n"
     "bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
     4, 61, "the name 's' is taken"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "  y: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
     4, 61, "the name 's' is taken"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "outputs:\n"
     "  s: 2\n",
     5, 3, "the name 's' is taken"},
    {"parameters: {k: 1}\n"
     "bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "outputs:\n"
     "  k: 2\n",
     6, 3, "the name 'k' is taken"},
    {"parameters: {k: 1}\n"
     "inputs: {k: 1}\n"
     "bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
     3, 10, "the name 'k' is taken"},
    {"parameters: {k: 1}\n"
     "functions: {k(x): 1}\n"
     "bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
     2, 14, "the name 'k' is taken"},
    {"parameters: {s_rate: 1}\n"
     "bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
     4, 61, "the name 's_rate' is taken"},
    {"parameters: {pi: 3}\n"
     "bodies:\n"
     "  x: {mass: 2}\n",
     2, 14, "'pi' is a reserved name"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: d}, mass: 2}\n",
     3, 61, "'d' is a reserved name"},
    {"bodies:\n"
     "  world: {mass: 2}\n",
     3, 3, "'world' is a reserved name"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "outputs: {sin: 2}\n",
     4, 11, "'sin' is a reserved name"},
    {"parameters: {t: 3}\n"
     "bodies:\n"
     "  x: {mass: 2}\n",
     2, 14, "'t' is a reserved name"},
    {"bodies:\n"
     "  a.b: {mass: 2}\n",
     3, 3, "'a.b' is not a name for a body: ASCII letters, digits and _"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: 2s}, mass: 2}\n",
     3, 61, "'2s' is not a name: ASCII letters, digits, _ and single points"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: höhe}, mass: 2}\n",
     3, 61, "'höhe' is not a name: ASCII letters, digits, _ and single points"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"0, 0, 0\"}, mass: 2}\n",
     3, 39, "the axis is zero: it has no direction"},
    {"parameters: {a: 0}\n"
     "bodies:\n"
     "  x:\n"
     "    joint: {type: revolute, axis: \"a, 0, -a\"}\n"
     "    mass: 2\n",
     5, 36, "the axis is zero: it has no direction"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1/0, 0, 0\"}, mass: 2}\n",
     3, 39, "'axis' is not finite here"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1e-200, 0, 0\"}, mass: 2}\n",
     3, 39, "the axis is zero: it has no direction"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic}, mass: 2}\n",
     3, 14, "the prismatic joint of 'x' needs an axis"},
    {"bodies:\n"
     "  x: {joint: {type: free, axis: \"0, 0, 1\"}, mass: 2}\n",
     3, 34, "a free joint has no axis; use turn"},
    {"bodies:\n"
     "  x: {joint: {axis: \"0, 0, 1\"}, mass: 2}\n",
     3, 22, "a fixed joint has no axis; use turn"},
    {"bodies:\n"
     "  x: {joint: {type: hinge, axis: \"0, 0, 1\"}, mass: 2}\n",
     3, 21,
     "unknown joint type 'hinge'; there are 'fixed', 'revolute', 'prismatic', 'screw', 'planar', "
     "'ball', 'free', 'universal', 'cylindrical'"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: -2}\n",
     3, 56, "the mass of 'x' is negative"},
    {"parameters: {m: -1}\n"
     "bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 2*m}\n",
     4, 56, "the mass of 'x' is negative"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1/0}\n",
     3, 56, "the mass of 'x' is not finite"},
    {"bodies:\n"
     "  x: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 3}}\n",
     3, 46,
     "no body can have the inertia of 'x': a principal moment is larger than the sum of the "
     "other two"},
    {"bodies:\n"
     "  x: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1, xy: 2}}\n",
     3, 46,
     "no body can have the inertia of 'x': a principal moment about the centre of mass is "
     "negative"},
    {"bodies:\n"
     "  x: {joint: {type: free}, mass: 1, inertia: {xx: -1, yy: 1}}\n",
     3, 51, "the moment of inertia 'xx' of 'x' is negative"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {axial: 3, radial: "
     "1}}\n",
     3, 67,
     "no body can have the inertia of 'x': a principal moment is larger than the sum of the "
     "other two"},
    {"bodies:\n"
     "  x: {joint: {type: free}, mass: 1, inertia: {axial: 1, radial: 1}}\n",
     3, 46, "the inertia of 'x' needs an axis: its joint has none"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {axial: 1, radial: "
     "1, xx: 1}}\n",
     3, 93, "inertia is given by axial and radial, or by xx yy zz, not both"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1, axis: \"0, "
     "0, 1\"}}\n",
     3, 82, "an axis goes with an inertia that is given by axial and radial"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1, about: "
     "origin}}\n",
     3, 82, "inertia is taken about com or joint, not 'origin'"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"1, 0, 0\", inertia: "
     "{xx: 1, yy: 1, zz: 1, about: joint}}\n",
     3, 83,
     "no body can have the inertia of 'x': a principal moment is larger than the sum of the "
     "other two"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1, xy: 1/0}}\n",
     3, 79, "'xy' is not finite here"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"0, 1/0, 0\", inertia: "
     "{zz: 1}}\n",
     3, 67, "'com' is not finite here"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\", at: \"0, 1/0, 0\"}, mass: 1, inertia: "
     "{zz: 1}}\n",
     3, 56, "'at' is not finite here"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\", turn: \"0, log(-1), 0\"}, mass: 1, "
     "inertia: {zz: 1}}\n",
     3, 58, "'turn' is not finite here"},
    {"gravity: 0, 0, 1/0\n"
     "bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1}}\n",
     2, 16, "'gravity' is not finite here"},
    {"parameters: {k: 1/0}\n"
     "bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1}}\n",
     2, 17, "the parameter 'k' is not finite"},
    {"parameters: {n: 0, k: 1/n}\n"
     "bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {zz: 1}}\n",
     2, 23, "the parameter 'k' is not finite"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\", stiffness: 1/0}, mass: 1, inertia: {zz: "
     "1}}\n",
     3, 59, "'stiffness' is not finite here"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1}\n",
     3, 3,
     "nothing that 'x' moves has mass or inertia along it, so its acceleration is not "
     "determined"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"0, 0, 1\"}}\n",
     3, 3,
     "nothing that 'x' moves has mass or inertia along it, so its acceleration is not "
     "determined"},
    {"bodies:\n"
     "  x: {joint: {type: free}, mass: 1}\n",
     3, 3,
     "nothing that 'x.wx' moves has mass or inertia along it, so its acceleration is not "
     "determined"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}}\n"
     "  y: {parent: x, joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 0}\n",
     3, 3,
     "nothing that 'x' moves has mass or inertia along it, so its acceleration is not "
     "determined"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "  y: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: u}, mass: 2}\n"
     "roles:\n"
     "  s: {motion: 2*u}\n",
     6, 15, "a motion is a formula of t, but this one uses 'u'"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "  y: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: u}, mass: 2}\n"
     "roles:\n"
     "  s:\n"
     "    motion: 2*d(u)\n",
     7, 13, "a motion is a formula of t, but this one uses 'u_rate'"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "roles:\n"
     "  s: {motion: 2*t, torque: 1}\n",
     5, 3, "'s' is driven by a torque, by a rate or by a motion, not by two of them"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: steer}, mass: 2}\n"
     "roles:\n"
     "  ster: {motion: 2*t}\n",
     5, 3, "there is no joint 'ster'; did you mean 'steer'?"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: steer}, mass: 2}\n"
     "  foot: {mass: 1}\n"
     "roles:\n"
     "  foot: {motion: 2*t}\n",
     6, 3, "the joint of 'foot' is fixed: it cannot move"},
    {"bodies:\n"
     "  x: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n"
     "roles:\n"
     "  x: {torque: {vz: 1}}\n",
     5, 16, "this joint has no velocity 'vz'"},
    {"bodies:\n"
     "  x: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n"
     "roles:\n"
     "  x: {motion: {z: 1}}\n",
     5, 16, "this joint has no coordinate 'z'"},
    {"bodies:\n"
     "  x: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n"
     "roles:\n"
     "  x: {torque: 3}\n",
     5, 15, "this joint has several velocities: write {torque: {vx: ...}}"},
    {"bodies:\n"
     "  x: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n"
     "roles:\n"
     "  x: {motion: 3}\n",
     5, 15, "this joint has several coordinates: write {motion: {x: ...}}"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "roles:\n"
     "  s: {motion: {s: 3}}\n",
     5, 19, "this joint has one coordinate: write {motion: formula}"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "roles:\n"
     "  s: {torque: {s: 3}}\n",
     5, 19, "this joint has one velocity: write {torque: formula}"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "roles:\n"
     "  s: {motion: 2*t}\n"
     "initial: {s: 3}\n",
     6, 11, "'s' is driven by a motion or a rate, or held, which gives its initial value"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "roles:\n"
     "  s: {motion: 2*t}\n"
     "initial: {d(s): 3}\n",
     6, 11, "'d(s)' is driven by a motion or a rate, or held, which gives its initial value"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "initial: {d(s): 3}\n"
     "cases: {a: {hold: [s]}}\n",
     4, 11, "'d(s)' is driven by a motion or a rate, or held, which gives its initial value"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: slide}, mass: 2}\n"
     "cases: {a: {hold: [slid]}}\n",
     4, 20, "there is no joint 'slid'; did you mean 'slide'?"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "initial: {2*pi: 3}\n",
     4, 11, "'2*pi' cannot be made to hold: it depends on no coordinate"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "initial: {d(d(s)): 3}\n",
     4, 11, "'d(d(s))' cannot be made to hold: it depends on no coordinate"},
    {"parameters:\n"
     "  k: 3 + 4*(2 -\n"
     "bodies:\n"
     "  x: {mass: 1}\n",
     3, 16, "the formula ends where a number, a name or '(' is expected"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"1, 2 * * 3, 0\"}\n",
     3, 71, "expected a number, a name or '(', not '*'"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"1, 2, kk\"}\n",
     3, 70, "unknown name 'kk'"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 1\"}, mass: 1}\n",
     3, 38, "'axis' is 3 formulas separated by commas, as in \"0, 0, 1\""},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 0, 1\"}, mass: 1}\n",
     3, 38, "'axis' is 3 formulas separated by commas, as in \"0, 0, 1\""},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, , 1\"}, mass: 1}\n",
     3, 41, "the formula is empty"},
    {"bodies:\n"
     "  x: {joint: {type: free}, mass: 1, added_mass: \"1, 2, 3, 4, 5\"}\n",
     3, 50, "added_mass is 6 numbers or 36, not 5"},
    {"bodies:\n"
     "  x: {joint: {type: free}, mass: 1, added_mass: \"1,2,0,0,0,0, 0,1,0,0,0,0, 0,0,1,0,0,0, "
     "0,0,0,1,0,0, 0,0,0,0,1,0, 0,0,0,0,0,1\"}\n",
     3, 50, "added_mass is not symmetric: entries 2,1 and 1,2 differ"},
    {"bodies:\n"
     "  x: {joint: {type: free}, mass: 1, added_mass: \"1, 1, -5, 1, 1, 1\"}\n",
     3, 3,
     "nothing that 'x.vz' moves has mass or inertia along it, so its acceleration is not "
     "determined"},
    {"bodies:\n"
     "  x: {joint: {type: free}, mass: 1, added_mass: \"1, 1, 1/0, 1, 1, 1\"}\n",
     3, 56, "'added_mass' is not finite here"},
    {"bodies:\n"
     "  x: {joint: {type: planar, stiffness: 3}, mass: 1, inertia: {zz: 1}}\n",
     3, 40, "'stiffness' needs a joint with one coordinate; use potential here"},
    {"bodies:\n"
     "  x: {joint: {stiffness: 3}, mass: 1, inertia: {zz: 1}}\n"
     "  y: {joint: {type: planar}, mass: 1, inertia: {zz: 1}}\n",
     3, 26, "a fixed joint has no use for 'stiffness'"},
    {"bodies:\n"
     "  x: {joint: {type: planar, damping: 3}, mass: 1, inertia: {zz: 1}}\n",
     3, 38, "'damping' needs a joint with one coordinate; use dissipation here"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s, potential: d(s)^2}, "
     "mass: 1}\n",
     3, 75, "a potential is a formula of coordinates, but this one uses 's_rate'"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s, dissipation: "
     "d(s_rate)^2}, mass: 1}\n",
     3, 77, "the rate of 's_rate' is not known here"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "roles:\n"
     "  s:\n"
     "    torque: 3 + d(s_rate)\n",
     6, 17, "the rate of 's_rate' is not known here"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "forces:\n"
     "  push: {force: \"1, 0, 0\"}\n",
     5, 3, "the force 'push' names no body"},
    {"bodies:\n"
     "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "forces:\n"
     "  push: {body: frme, force: \"1, 0, 0\"}\n",
     5, 16, "there is no body 'frme'; did you mean 'frame'?"},
    {"bodies:\n"
     "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "forces:\n"
     "  push: {body: world, force: \"1, 0, 0\"}\n",
     5, 16, "a force acts on a body, not on the world"},
    {"bodies:\n"
     "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "forces:\n"
     "  push: {body: frame, reaction: frame, force: \"1, 0, 0\"}\n",
     5, 33, "the reaction acts on another body"},
    {"bodies:\n"
     "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "forces:\n"
     "  push: {body: frame, axes: frame, force: \"1, 0, 0\"}\n",
     5, 29, "axes are those of the body or of the world, not of 'frame'"},
    {"bodies:\n"
     "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "outputs:\n"
     "  a: b + 1\n"
     "  b: 2*a\n",
     5, 6, "the output 'a' depends on itself"},
    {"bodies:\n"
     "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "outputs:\n"
     "  a: 3*frame.R14\n",
     5, 8,
     "unknown name 'frame.R14'; there are 'frame.yaw', 'frame.pitch', 'frame.roll', "
     "'frame.speed', 'frame.heading', 'frame.curvature', 't', 's', 's_rate', 'a'"},
    {"bodies:\n"
     "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "outputs:\n"
     "  a: 3*fram.R11\n",
     5, 8, "unknown name 'fram.R11'; did you mean 'frame.R11'?"},
    {"bodies:\n"
     "  x: {joint: {type: free, coordinate: s}, mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}\n",
     3, 39, "a free joint names no coordinate of its own"},
    {"inputs: {u: 2*s}\n"
     "bodies:\n"
     "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
     2, 15, "this is a formula of t and of parameters, not of 's'"},
    {"inputs: {u: 2}\n"
     "parameters: {p: 2*u}\n"
     "bodies:\n"
     "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
     3, 19, "'u' is not a parameter: this must be constant"},
    {"parameters: {p: 2*s}\n"
     "bodies:\n"
     "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
     2, 19, "'s' is not a parameter: this must be constant"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "outputs: {t: 2}\n",
     4, 11, "'t' is a reserved name"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: t}, mass: 2}\n",
     3, 61, "'t' is a reserved name"},
    {"inputs: {t: 2}\n"
     "bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 2}\n",
     2, 10, "'t' is a reserved name"},
    {"parameters: {b.x: 2}\n"
     "bodies:\n"
     "  b: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n",
     4, 3, "the name 'b.x' is taken"},
    {"outputs: {b.x: 2}\n"
     "bodies:\n"
     "  b: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n",
     2, 11, "the name 'b.x' is taken"},
    {"outputs: {b.z: 2}\n"
     "bodies:\n"
     "  b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
     2, 11, "the name 'b.z' is taken"},
    {"parameters: {b.R11: 2}\n"
     "bodies:\n"
     "  b: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n",
     2, 14, "the name 'b.R11' is taken"},
    {"bodies:\n"
     "  x: {mass: 2}\n"
     "  y: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n"
     "cases: {a: {hold: [x]}}\n",
     5, 20, "the joint of 'x' is fixed: it cannot move"},
    {"bodies:\n"
     "  x: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {axial: -3}}\n",
     3, 75, "the moment of inertia 'axial' of 'x' is negative"},
    {"bodies:\n"
     "  x: {joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: sqrt(-1)}\n",
     3, 56, "the mass of 'x' is not finite"},
    {"bodies:\n"
     "  frame: {joint: {type: prismatic, axis: \"1, 0, 0\", coordinate: s}, mass: 2}\n"
     "forces:\n"
     "  push: {body: frame, force: \"1, 0\"}\n",
     5, 31, "'force' is 3 formulas separated by commas, as in \"0, 0, 1\""},
    {"bodies:\n"
     "  x: {joint: {type: planar}, mass: 2, inertia: {zz: 1}}\n"
     "roles: {x: {motion: {x: t}}}\n"
     "initial: {x.theta: 1}\n",
     5, 11, "'x.theta' is driven by a motion or a rate, or held, which gives its initial value"},
};

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        check_refusal(refusals[i].text, refusals[i].line, refusals[i].column, refusals[i].words);
}

// At the edge of what is refused
static void test_just_possible(void **state)
{
    (void)state;
    static const char *const cases[] = {
        // a flat body: one moment is the sum of the others, also turned and off its joint
        "  b: {joint: {type: free}, mass: 1, inertia: {xx: 1, yy: 1, zz: 2}}\n",
        "  b: {joint: {type: free}, mass: 1, inertia: {xx: 1.3, yy: 1.7, zz: 3, xy: 0.4}}\n",
        "  b: {joint: {type: free}, mass: 3, com: \"0.3, 0.7, 0\", inertia: {xx: 0.1 + 3*0.49, yy: "
        "0.2 + 3*0.09, xy: -3*0.21, zz: 0.3 + 3*0.58, about: joint}}\n",
        "  b: {joint: {type: revolute, axis: \"1, 1, 1\"}, mass: 1, inertia: {axial: 2, radial: "
        "1}}\n",
        // only what is given is looked at
        "  b: {joint: {type: planar}, mass: 1, inertia: {zz: 5}}\n",
        "  b: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, inertia: {axial: 1}}\n",
        // a mass without size, where no joint needs one; a body without mass that carries another
        "  b: {joint: {type: revolute, axis: \"0, 0, 1\"}, mass: 1, com: \"1, 0, 0\"}\n",
        "  b: {joint: {type: revolute, axis: \"0, 0, 1\"}}\n"
        "  c: {parent: b, joint: {type: prismatic, axis: \"1, 0, 0\"}, mass: 1, inertia: {zz: "
        "1}}\n",
        // no mass, but a motion
        "  b: {joint: {type: revolute, axis: \"0, 0, 1\"}}\nroles: {b: {motion: t}}\n",
        "  b: {joint: {type: revolute, axis: \"0, 0, 1\"}}\ncases: {still: {hold: [b]}}\n",
        // a role that says nothing
        "  b: {joint: {type: planar}, mass: 1, inertia: {zz: 5}}\nroles: {b: passive}\n",
        // nothing moves
        "  b: {mass: 1}\n",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[600];
        tr_error err = {0};
        snprintf(text, sizeof text, "trundle: 1\nbodies:\n%s", cases[i]);
        tr_model *model = tr_model_parse(text, &err);
        tr_system *system = tr_derive(model, NULL, &err);
        if (!system) fail_msg("%s%d:%d: %s", text, err.line, err.column, err.text);
        tr_system_free(system);
        tr_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_just_possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
