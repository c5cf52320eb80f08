// SPDX-License-Identifier: Apache-2.0
// Prints docs/format.md, the reference of the model file, from the rows that the reader itself
// works with: model/field.def, mech/joint.def, expr/op.def.
//   format_reference >docs/format.md
#include "expr/op.h"
#include "model/model.h"

#include <stdio.h>

// ---- prose ---------------------------------------------------------------------------------

static const char introduction[] =
    "# The model file\n"
    "\n"
    "<!-- Written by tools/format_reference.c from the tables in the source; do not edit. -->\n"
    "\n"
    "A model is one YAML document that begins with `trundle: 1`. It names bodies, says how they\n"
    "hang from each other, what drives and pulls them, and where they start:\n"
    "\n"
    "```yaml\n"
    "trundle: 1\n"
    "name: pendulum on a cart\n"
    "parameters:\n"
    "  m: 0.4                      # a formula, as every value\n"
    "  length: 0.5\n"
    "  I: m*length^2/12            # follows m and length\n"
    "inputs: {push: 0}\n"
    "bodies:\n"
    "  cart:\n"
    "    joint: {type: prismatic, axis: \"1, 0, 0\", base: true}\n"
    "    mass: 1\n"
    "  pole:\n"
    "    parent: cart\n"
    "    joint: {type: revolute, axis: \"0, 1, 0\", coordinate: angle}\n"
    "    mass: m\n"
    "    com: 0, 0, -length/2\n"
    "    inertia: {xx: I, yy: I}\n"
    "roles:\n"
    "  cart: {torque: push}\n"
    "outputs:\n"
    "  tip: cart - length*sin(angle)\n"
    "initial: {angle: 0.1, d(tip): 0}\n"
    "cases:\n"
    "  swing: {end: 5, every: 0.01}\n"
    "  shove: {set: {push: 2}}\n"
    "```\n"
    "\n"
    "Units are SI, angles are radians. An unknown key, a key that stands twice or a value of the\n"
    "wrong kind is an error that names its line and column. Aliases (`*a`), anchors (`&a`) and "
    "tags\n"
    "(`!a`) of YAML are refused. `trundle schema` prints the JSON Schema of model files, by which\n"
    "editors complete and check them.\n"
    "\n"
    "## Quoting\n"
    "\n"
    "- On a line of its own a formula needs no quotes, even with commas: `com: 0, 0, -length/2`.\n"
    "- Inside `{}` and `[]` a comma ends the value: quote a formula that holds one,\n"
    "  `{axis: \"0, 1, 0\"}`.\n"
    "- Quote what holds `: ` or ` #`, and what begins with `*`, `&`, `!`, `- `, `{`, `[`, `%` or\n"
    "  `@`. `if(c, a, b)` says the same as `c ? a : b` and needs no quotes on its own line.\n"
    "- A vector is written in one text, its parts separated by commas. A list of names is\n"
    "  `[a, b]`, or one text as well: `hold: a, b`.\n"
    "- `on` is the former name of `against`, and is still read; but tools that read YAML 1.1, such "
    "as\n"
    "  PyYAML, take it for the boolean true.\n"
    "\n"
    "## Names and frames\n"
    "\n"
    "The world's axes are right-handed with z up. A joint's `at` and `axis` are in the axes of "
    "the\n"
    "parent; when its coordinates are zero, the child's axes are those of the parent, turned by\n"
    "`turn`, and its origin is at `at`. Everything else about a body (`com`, `inertia`, points) "
    "is\n"
    "in its own axes, from its own origin.\n"
    "\n"
    "A revolute or prismatic joint has one coordinate, named by `coordinate` or else like its "
    "body.\n"
    "Its velocity is that name with `_rate`, or `d(name)` in formulas. The coordinates and\n"
    "velocities of other joints are named after the body, see [Joint types](#joint-types);\n"
    "velocities are those of the body's origin, in the body's axes. Of every body `B`, formulas\n"
    "know the origin in the world `B.x B.y B.z`, the rotation into world axes `B.R11` to `B.R33`\n"
    "(row, column), and the velocities `B.vx B.vy B.vz B.wx B.wy B.wz` in its own axes;\n"
    "`B.yaw B.pitch B.roll`, the angles of that rotation, R = Rz(yaw) Ry(pitch) Rx(roll);\n"
    "`B.speed`, how fast its origin goes, never negative; `B.heading`, where that goes as seen "
    "from\n"
    "above, from the world's x to its y, and `B.curvature`, how much its path there bends, "
    "positive\n"
    "to the left. All angles are in (-pi, pi]. What stands still has no heading and no curvature:\n"
    "what asks for them then ends with words, unless the formula asks first, as in\n"
    "`if(B.speed > 0.01, B.heading, 0)`. A curvature takes accelerations: only outputs know it.\n"
    "Where a joint has a coordinate or velocity of that name, the name means the joint's: with a\n"
    "free or planar joint that has `at`, `turn` or a parent other than the world, `B.x` counts "
    "from\n"
    "there.\n"
    "\n"
    "Parameters, coordinates, inputs, functions, tables and outputs share one set of names; a name "
    "with\n"
    "two meanings is an error. The arguments of a function are its own and may hide any name.\n"
    "Names are ASCII letters (no umlauts, no accents), digits and `_`. Reserved are `t`, the "
    "time,\n"
    "`pi`, `d`, `if`, `world`, `ground` and the names of the functions below.\n"
    "\n"
    "A joint is called by its coordinate, or by its body when it has several: so in `roles`,\n"
    "`hold` and the results `tau.angle`, `tau.frame.vx`.\n";

static const char rules[] =
    "\n"
    "## Constraints\n"
    "\n"
    "Contacts, loops, couplings and constraints are rows on the velocities: each says that one\n"
    "velocity stays zero, or is what a formula of `t` says. Rows that always hold are dropped: of\n"
    "a wheel on a rail one is left, of a wheel in the plane two.\n"
    "\n"
    "| element | rows |\n"
    "|---|---|\n"
    "| `rolling` | `normal` (touches the ground), `longitudinal` and `lateral` (does not slip) |\n"
    "| `rolling` with a `roller` | `normal`, `roller` (does not slip along the axis of the roller) "
    "|\n"
    "| `skate` | `lateral` |\n"
    "| `slide` | `normal` |\n"
    "| `pin` | `normal`, `longitudinal`, `lateral`: z, x, y of `against` |\n"
    "| `wire` | `normal` and `lateral`: across the wire, up and to the left |\n"
    "| a loop | forces `x y z`, moments `mx my mz`: see [loops](#loops) |\n"
    "| `distance` | `distance` |\n"
    "| a coupling | `coupling` |\n"
    "| a constraint | `position` or `rate` |\n"
    "\n"
    "The ground is the plane z = 0, unless `ground` says otherwise. Of a wheel, longitudinal is "
    "axle x normal (forward for an "
    "axle\n"
    "that points left) and lateral is normal x longitudinal. Of a ball they are x and y of what it "
    "is on,\n"
    "the ground or the body in `against`; where that is not flat, x and y as they become when its "
    "z "
    "is\n"
    "turned to the normal by the shortest way. `lambda.element.row` is the force, "
    "or\n"
    "moment, on the element's own body along its row; formulas of forces and torques may use it,\n"
    "linearly, and outputs as they like.\n"
    "\n"
    "Formulas know of a rolling or sliding contact `E`: `contact.E.x y z`, the point that "
    "touches;\n"
    "`contact.E.nx ny nz`, the normal there, both in world axes; `contact.E.margin`, for [ground]"
    "(#ground-that-is-not-flat);\n"
    "`contact.E.Fx Fy Fz`, the force on its body there, in world axes, and `fx fy fz` in the axes "
    "of\n"
    "what carries it; `contact.E.angle`, how far the contact of a wheel has run forward from "
    "below\n"
    "its axle. Points and forces in world axes are recorded. A run ends where a normal force "
    "would\n"
    "pull, or where a wheel lies flat, and warns when the available `friction` is exceeded, with "
    "the\n"
    "time.\n"
    "\n"
    "A contact with `unilateral: true` opens there instead, flies, and lands with an impact:\n"
    "velocities jump so that all rows that hold do so after it, with `restitution` times the "
    "approach\n"
    "back along its normal; one that would have to pull lets go. With `stick: true` it holds\n"
    "without slip up to its friction, slips beyond, at an impact too, and holds again once it "
    "slips\n"
    "no faster than twice its `creep`. All this is found to a billionth of a second, and stands "
    "in the\n"
    "certificate under `events`, with what an impact dissipates.\n"
    "\n"
    "Where rows are redundant, or driven joints can work against each other, reactions are not\n"
    "unique. Then their norm is least (moments divided by the longest arm in the model), unless\n"
    "`reactions` says otherwise. Names of elements are one set.\n"
    "\n"
    "`independent` names velocities to describe the motion by: `board.wz`, `d(angle)`, or an "
    "output\n"
    "that is linear in velocities. They are used where they can be; elsewhere others take their\n"
    "place. The results do not depend on it.\n"
    "\n"
    "`check` tells what the constraints do: which rows are redundant, which joints can work "
    "against\n"
    "each other, what never moves, and what would end a run where it starts. A start where rows "
    "depend on each other that do not when it "
    "moves\n"
    "is singular, and refused unless the case says `allow: singular`. A run stops where the\n"
    "constraints change their rank, and where motions contradict them.\n"
    "\n";

static const char precedence[] =
    "## What holds when\n"
    "\n"
    "`initial` pairs formulas of coordinates or rates with values. The state at the start "
    "satisfies\n"
    "all of them and all constraints, and otherwise differs least from `guess`. A case changes the "
    "model: its `set`,\n"
    "`initial`, `guess` and `roles` are put in place of what the model says, name by name. What "
    "is\n"
    "given on the command line (`--set`) wins over the case. When a parameter is set that is a\n"
    "formula of others, the formula is replaced, and what depends on it follows.\n"
    "\n"
    "A file with keys of a case, `trundle VERB MODEL --with FILE`, stands between the two: it wins "
    "over the case,\n"
    "of several the last one, and `--set` wins over it. What `steady -o trim.yaml`, `lqr -o "
    "gains.yaml` and\n"
    "`fit -o fit.yaml` write are such files. Its lists (`without`, `hold`) are added to those of "
    "the case.\n";

static const char terrain[] =
    "\n"
    "## Ground that is not flat\n"
    "\n"
    "With `height`, of the ground or of a [surface](#surface), a wheel or a ball touches where the "
    "surface\n"
    "is tangent to it. Where that is at the start is looked for round all of it: the place that is "
    "nearest\n"
    "counts. Normals and margins are recorded there, as `contact.E.nx ny nz margin`.\n"
    "\n"
    "The *margin* says how much flatter the surface is than what rolls on it: 1 on a plane, 1 - "
    "radius\n"
    "times curvature below a disc or a ball, above 1 on crests, 0 where a hollow is as sharp as "
    "the wheel.\n"
    "A run ends there, with the place and both radii, for no rate of the contact is finite. In "
    "most "
    "hollows\n"
    "the wheel touches at a second place before, and a run ends at that with the time and both "
    "places;\n"
    "`allow: [second_touch]` in a case makes it a warning. Of a contact that flies neither "
    "counts.\n"
    "\n"
    "Sharp kerbs and edges are not supported: a contact goes on along one smooth surface. Pieces "
    "may be joined\n"
    "by comparisons, `min`, `max` and `abs`, and where their curvature jumps, or more, runs go on; "
    "but where\n"
    "the height or the slope jumps by more than 1e-9 below a contact, as at the border of a table "
    "that holds,\n"
    "the run ends with the place. A wheel that comes to a kerb or to a bend upwards touches it as "
    "a "
    "second\n"
    "place, and ends there. Contacts that fly pass over them.\n"
    "\n"
    "Along tables of degree 3 the curvature has kinks at the knots: accelerations are continuous, "
    "and so is\n"
    "`d(contact.E.x)` but for its slope; `d(d(contact.E.x))` jumps at knots.\n"
    "\n"
    "A `skate` keeps to a direction of its body and knows neither height nor normal: on such "
    "ground "
    "other\nrows hold its body.\n";

static const char restraints[] =
    "\n"
    "## Stops and dry friction\n"
    "\n"
    "A joint with one coordinate (revolute, prismatic, screw; in `joints`, too, where one closes a "
    "loop) may have `limits`.\n"
    "It stops there with an impact that the masses of all that moves share, comes back by "
    "`limit_restitution`, and is then\n"
    "held until it would have to be pulled. `lambda.COORDINATE.limit` is the force of both stops "
    "along the coordinate: positive\n"
    "at the lower one, negative at the upper one; formulas may use it. With `limit_stiffness` a "
    "stop is a spring with a damper\n"
    "(`limit_damping`), whose force has the same name. Each time that a stop is reached or left is "
    "an event of the\ncertificate, with impulse and energy.\n"
    "\n"
    "- Nothing starts beyond a stop: `initial` that says so is refused. What `guess` says, or zero "
    "where nothing is said, is\n"
    "  taken to the nearer stop.\n"
    "- What a `motion` or a `rate` moves, or the case holds, has stops that are watched: the run "
    "ends where it passes one,\n"
    "  and so do runs of the first order. A soft stop pushes against the motor.\n"
    "- Limits of a joint that closes a loop are between -pi and pi, for it does not count its "
    "turns.\n"
    "- `linearise`, `steady` and `lqr` take stops as they are at the start: one that holds there "
    "holds. `settle` knows none, and says so.\n"
    "\n"
    "`friction` is dry: the joint does not move at all while less than `stiction` would hold it, "
    "and slips against `friction`\n"
    "else, exactly, down to no speed. `lambda.COORDINATE.friction` is its force either way. It may "
    "be a formula of the state, such as\n"
    "`0.2 + 0.3*exp(-abs(hip_rate)/0.1)`, but not of reactions. It bears no impulse: a joint that "
    "is held so far slips after an impact.\n"
    "Where a stop and friction hold one joint, or friction holds several joints of a loop, how "
    "they share it is not determined: forces are\n"
    "the least. A joint whose links have no mass should have friction at one end alone.\n"
    "\n"
    "`armature` is the inertia of a motor's rotor about its own axis, and `ratio` how fast it "
    "turns "
    "against the coordinate: `armature`\n"
    "times `ratio`^2 is added along the coordinate. That its spin bends the motion of what carries "
    "it is left out: for that, give the rotor a\n"
    "body and a coupling.\n"
    "\n"
    "`limit` of a role is what the motor can do, either way, such as a table of the speed: "
    "`max(0, map(abs(hip_rate)))`. `tau` is\n"
    "what acts after it. A run warns once, with the first time and how long in all; the "
    "certificate has both in `at_limit`.\n";

static const char use_and_results[] =
    "\n"
    "## What a formula may use\n"
    "\n"
    "| where | names |\n"
    "|---|---|\n"
    "| inputs | parameters and `t` |\n"
    "| parameters, bodies, joints' places, axes and inertias, cases | parameters |\n"
    "| `motion` of a role | parameters, inputs and `t` |\n"
    "| `rate` of a role, `value` of a command | parameters, inputs, coordinates and `t` |\n"
    "| a command's name | a velocity, `d(coordinate)`, an output that is linear in velocities, or "
    "a "
    "row of a contact |\n"
    "| `direction` of a skate, `axis` of what rolls | parameters, inputs and `t` |\n"
    "| contacts, loops, couplings | parameters; `length` and `offset` also inputs and `t`; laws of "
    "slip, and their numbers but `creep` and `relaxation`, as forces |\n"
    "| `constraints` | coordinates, rates, inputs and `t` |\n"
    "| `weights` | parameters |\n"
    "| `tension` | all but accelerations and reactions |\n"
    "| `of` of a sensor, `update` and `outputs` of a controller | everything, as outputs; a "
    "controller its own states |\n"
    "| `rate` of a state | all but accelerations and reactions |\n"
    "| `torque` of a role, forces, springs and dampers | all but accelerations; reactions linearly "
    "|\n"
    "| `outputs` | everything, accelerations too: `d(angle_rate)`, `d(d(angle))` |\n"
    "\n"
    "A function sees what its caller sees, and its arguments.\n"
    "\n"
    "In first order velocities are known as functions of coordinates, inputs and `t`, so "
    "accelerations and\n"
    "`B.curvature` have their values in `outputs`; inputs that are numbers stay as they are. There "
    "are no forces:\n"
    "outputs that take them are left out, with a warning. A `motion` may jump there (a table of "
    "degree 0, `floor`)\n"
    "where no row and no command depends on its rate, and is refused elsewhere. Where the normal "
    "of a contact is\n"
    "soft, nothing holds it on the ground. `kkt_error` compares velocities, where there are rows "
    "that hold; where\n"
    "all are soft there is none. Velocities that weights of other sizes tell together lose as many "
    "digits as these\n"
    "are apart: with 1 and 1e8 eight are left of what the weaker one tells.\n"
    "\n"
    "Jumps and kinks in `t` alone (`if(t < 2, 0, 1)`, `max(0, t - 1)`) cost no accuracy, however "
    "short\n"
    "they last: runs stop there and go on from the other side. Where that would take too long to "
    "prove,\n"
    "the run warns. The rate of a `motion` or a constraint may jump: what hangs from it takes the "
    "blow,\n"
    "which stands in the certificate under `events` with its work. The motion itself must not "
    "jump: such a run is\n"
    "refused with the time, also where `tan` or `atan2` jumps. Kinks that are made of roots "
    "(`sqrt(x^2)`) or of\n"
    "`asin` and `acos` are not looked for: write `abs`.\n"
    "\n"
    "Jumps that depend on the state (`if(x > 1, ...)`, `floor(x)`) are found on the way, to a "
    "billionth of\n"
    "a second, and runs start anew from there. Kinks (`max(0, x)`, `abs(d(x))`) are too with fixed "
    "steps; adaptive\n"
    "ones are short enough there by themselves. What switches to and fro without end, as the sign "
    "of a speed\n"
    "that dry friction has brought to rest, does so no more often than 50,000 times in a run (or "
    "every 0.1 ms),\n"
    "and the run warns: a contact with `stick`, or a smooth law as `d(x)/sqrt(d(x)^2 + 1e-6)` for "
    "the sign, holds better.\n"
    "\n"
    "## Results\n"
    "\n"
    "`simulate` records `t`, all coordinates, all velocities, the outputs, `tau.` of driven "
    "joints,\n"
    "`lambda.` and `contact.` of constraints, "
    "`energy.kinetic`, `energy.potential`, `energy.work` (what motors, dampers, forces and impacts "
    "put in since\n"
    "the start: what an impact dissipates is negative work, so kinetic + potential - work stays "
    "the "
    "same),\n"
    "`residual.position` and `residual.velocity`. In `.mat` files a point in a name "
    "becomes\n"
    "`_`. The `.json` file beside them is the certificate: the method, the work it took, "
    "`energy_error`,\n"
    "`position_error`, `velocity_error`, `command_error` (the worst `residual.commands`), "
    "`kkt_error` (accelerations against those found in another "
    "way), the largest `drift` of a step before it was mended, events and warnings; and what each "
    "of the\n`columns` is: its `quantity` and `unit`, and the `component` of the `owner` that it "
    "is.\n";

static const struct {
    const char *kind, *title, *text;
} sections[] = {
    {"model", "The file", "What stands at the top of the file."},
    {"parameters", "parameters",
     "Each entry of `parameters` is a name and its value, `m: 1`, or a name and more than that:\n"
     "\n"
     "```yaml\n"
     "parameters:\n"
     "  m: {value: 1, min: 0.5, max: 2, unit: kg, doc: payload}\n"
     "  length: 0.5\n"
     "  I: {value: m*length^2/12, max: 0.1, unit: kg m^2}\n"
     "```\n"
     "\n"
     "A case's `set`, `--set`, files of `--with` and calls replace the value alone. A value is "
     "within "
     "its\n"
     "range, wherever it comes from: else derive, runs that are told to start with it, batches and "
     "sweeps\n"
     "refuse it, with the range. So they do with what follows from other parameters. `fit` stays "
     "within\n"
     "ranges and says which of them it came to; `steady` and `linearise --trim` refuse what is "
     "beyond, and\n"
     "families end there. Unit, range and words go into the certificate, into what `derive` and "
     "`check -v`\n"
     "say, and are to be had by calls (`tr_input_range`). A program that is evaluated directly "
     "takes "
     "whatever\n"
     "it is given."},
    {"inputs", "inputs",
     "Each entry of `inputs` is a name and its value, or a name and the same keys as those of\n"
     "[parameters](#parameters): `push: {value: 0, min: -10, max: 10, unit: N}`. The range is that "
     "of "
     "numbers:\n"
     "those of files, settings, calls and controllers, which are refused beyond it. Of a formula "
     "of "
     "`t` its\n"
     "value at the start is looked at.\n"
     "\n"
     "## Units\n"
     "\n"
     "A unit is made of `kg m s A K mol rad sr N J W Pa Hz C V ohm S F Wb H T` and `1`; a blank or "
     "`*` stands\n"
     "between factors, `^` before a power (`m^2`, `s^-1`, `m^0.5`), and `/` before one factor, or "
     "a "
     "product in\n"
     "parentheses: `N m/rad`, `J/(kg K)`. Values are in SI units always, so one that takes a "
     "factor "
     "(`deg`, `mm`,\n"
     "`km/h`, `kN`) is refused: give the value in `rad`, `m`, `m/s`, `N`. A radian counts as 1.\n"
     "\n"
     "Where a parameter or an input with a unit stands alone for a field, or minus it, and the "
     "tables "
     "here have a\n"
     "unit for that field, both must be of one dimension. Formulas are not looked into."},
    {"include", "include",
     "Each entry of `include` is a name and the following, see [Files in files](#files-in-files):"},
    {"each", "each", "Each entry of `each` is a name and a list, which may stand in a map:"},
    {"tables", "tables", "Each entry of `tables` is a name and:"},
    {"signals", "signals", "What was recorded together, in one file:"},
    {"bodies", "bodies", "Each entry of `bodies` is a name and:"},
    {"joint", "joint", "How a body hangs from its parent."},
    {"joints", "joints",
     "Each entry of `joints` is a name and the fields of a [joint](#joint), with the `parent` that "
     "holds it and\nthe `body` that it holds. They may come in any order, and there may be more of "
     "them than a tree has: some\nare cut then, which makes loops of them. Motions stay the same "
     "wherever that is. A joint that was cut keeps its\nname, its coordinate (an angle within half "
     "a turn), its spring, its damper, its torque and its guess.\nIts spring does not count turns "
     "either, which one that is not cut does: a run warns where it\npasses half a turn. The "
     "coordinates of a ball are named "
     "after the body that hangs by it in the tree: formulas do better with a frame."},
    {"elastic", "elastic",
     "Where a spring stands between a motor and what it drives. The joint's role, a torque or a "
     "motion, is then\nthat of the motor, which has a coordinate of its own; `tau` is the "
     "motor's; where it is held, `tau.COORDINATE.motor` is, and `tau` what holds the coordinate."},
    {"frames", "frames", "Each entry of `frames` is a name and:"},
    {"inertia", "inertia",
     "Either `axial` and `radial` of an axisymmetric body, or the entries of the matrix. A wheel "
     "whose two\nmoments across its axle are one formula (`xx: J, yy: A, zz: J`) is seen to be "
     "axisymmetric."},
    {"beam", "beam",
     "What bends of a body: an Euler-Bernoulli beam along its x, by the modes of a uniform "
     "cantilever, scaled so\nthat the integral of their squares is the length: the tip moves by 2 "
     "e of a bending mode, and turns by\n1.4 e of one of torsion. Large motions of the whole are "
     "exact; bending by itself is linear. A point\nof it, as in `mast.tip`, stands wherever a body "
     "can be named: `parent: mast.tip`, `body: mast.tip`, `mast.tip.x`."},
    {"modal", "modal",
     "What bends of a body, by modes that another program found, with the body's frame held: a "
     "node "
     "at its\norigin moves with no mode. Coordinates are B.e1 B.e2 and so on. A node at (x, y, z) "
     "moves by the sum of\nu e and turns by the vector that is the sum of r e; moments of inertia "
     "are those about axes parallel to\nthe body's. Mass and inertia of the body itself are "
     "added."},
    {"shapes", "shapes", "Each entry of `shapes` is a name and:"},
    {"ground", "ground", "What wheels roll on: a plane, or a height over it."},
    {"surface", "surface",
     "What a contact is on: its kind alone, as in `surface: plane`, or with what the kind needs."},
    {"contacts", "contacts", "Each entry of `contacts` is a name and:"},
    {"loops", "loops",
     "Each entry of `loops` is a name and what follows. The rows are forces `x y z` and moments "
     "`mx my mz` on `body`,\nin the axes of `against`: all three forces of a point, an axis, a "
     "universal joint and a pose, "
     "those across the axis of a slider and\na cylinder, that along the normal of a plane; all "
     "three "
     "moments of a pose and a slider, those across the\naxis of the others; a universal joint has "
     "one row `moment`, about "
     "what is across both of its axes,\nwhich stay at a right angle, and a rod has one row, "
     "`distance`. Rows that always hold are left out. Where an axis is skew to those of "
     "`against`, rows across or along\nit have axes of their own, which keep these names: the one "
     "of x, y "
     "and z nearest to the loop's axis is put along it,\nthe next (y after x, z after y, x after "
     "z) "
     "across it, as near to where it was as it can be, and the third across both,\nright-handed. "
     "Formulas\nknow `loop.E.angle` of an "
     "axis and `loop.E.travel` of a slider called E."},
    {"couplings", "couplings",
     "Each entry of `couplings` is a name and what says that one coordinate is a sum of others:"},
    {"constraints", "constraints", "Each entry of `constraints` is a name and one of:"},
    {"reactions", "reactions", "Which reactions are meant where they are not unique."},
    {"forces", "forces", "Each entry of `forces` is a name and:"},
    {"roles", "roles",
     "Each entry of `roles` is the name of a joint and the word `passive`, or one of these:"},
    {"commands", "commands",
     "Each entry of `commands` is a velocity, an output that is linear in velocities, or a row of "
     "a "
     "contact, and:"},
    {"states", "states", "Each entry of `states` is a name and:"},
    {"sensors", "sensors", "Each entry of `sensors` is a name and:"},
    {"controllers", "controllers", "Each entry of `controllers` is a name and:"},
    {"fixes", "fixes", "Each entry of `fixes` is a name and:"},
    {"cases", "cases", "Each entry of `cases` is a name and:"},
};

// ---- the kinds -----------------------------------------------------------------------------

static const char *type_name(FieldType type)
{
    switch (type) {
    case TYPE_FORMULA: return "formula";
    case TYPE_VECTOR: return "3 formulas";
    case TYPE_NUMBERS: return "formulas";
    case TYPE_WORD: return "word";
    case TYPE_FLAG: return "true or false";
    case TYPE_TEXT: return "text";
    case TYPE_LIST: return "list of names";
    case TYPE_PAIRS: return "name: formula";
    case TYPE_PARTS: return "formula, or name: formula";
    default: return NULL;
    }
}

// "one of a, b, c"
static void print_choice(const char *words)
{
    if (strchr(words, ' ')) printf("one of ");
    for (; *words; words++) {
        if (*words == ' ') printf(",");
        printf("%c", *words);
    }
}

static void print_type(const Field *field)
{
    const Kind *kind = tr_kind_of(field->type);
    if (field->type == TYPE_CHOICE)
        print_choice(field->unit);
    else if (!kind)
        printf("%s", type_name(field->type));
    else if (is_setting_kind(kind))
        printf("name: formula, or [more](#%s)", kind->title);
    else if (kind->named)
        printf("name: [%s](#%s)", kind->title, kind->title);
    else
        printf("[%s](#%s)", kind->title, kind->title);
}

static void print_kind(const Kind *kind)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(sections[i].kind, kind->title) == 0)
            printf("\n## %s\n\n%s\n", sections[i].title, sections[i].text);
    if (kind->type == TYPE_JOINTS || kind->type == TYPE_INPUTS) return; // the same fields once more
    printf("\n| key | type | unit | default | meaning |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < kind->field_count; i++) {
        const Field *field = &kind->fields[i];
        const char *quote = field->standard[0] ? "`" : "";
        printf("| `%s` | ", field->key);
        print_type(field);
        printf(" | %s | %s%s%s | %s |\n", field->type == TYPE_CHOICE ? "" : field->unit, quote,
               field->standard, quote, field->doc);
    }
}

// ---- joints and formulas -------------------------------------------------------------------

// "x y" -> `B.x B.y`
static void print_parts(const char *parts, const char *single)
{
    if (strcmp(parts, "none") == 0) {
        printf("none");
        return;
    }
    if (!parts[0]) {
        printf("`%s`", single);
        return;
    }
    printf("`B.");
    for (; *parts; parts++)
        if (*parts == ' ')
            printf(" B.");
        else
            printf("%c", *parts);
    printf("`");
}

static void print_joints(void)
{
    static const struct {
        const char *name, *positions, *velocities;
    } types[] = {
#define JOINT_TYPE(name, positions, velocities, ...) {#name, positions, velocities},
#include "mech/joint.def"
    };
    printf("\n## Joint types\n\n"
           "Of a body `B`; `c` stands for the name of a coordinate. Rotations in space are unit\n"
           "quaternions, scalar first.\n\n"
           "| type | coordinates | velocities |\n|---|---|---|\n");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        printf("| `%s` | ", types[i].name);
        print_parts(types[i].positions, "c");
        printf(" | ");
        print_parts(types[i].velocities, "c_rate");
        printf(" |\n");
    }
    printf(
        "\n"
        "A universal joint turns by `B.a` about `axis`, and what that carries by `B.b` about\n"
        "`second`: R = R(axis, a) R(second, b) turn. Both are in the axes of the parent, `second`\n"
        "as it is while `B.a` is 0; they need not be at right angles, only not parallel. A\n"
        "cylindrical joint slides by `B.travel` along `axis` and turns by `B.angle` about it. "
        "Each\n"
        "velocity is the rate of its coordinate, `d(B.a)`; roles call them by the coordinate,\n"
        "`{torque: {a: 1, b: 2}}`, results `tau.B.a`. Springs and dampers of these are formulas,\n"
        "`potential` and `dissipation`. Where a wheel or an inertia takes \"the joint's axis\", "
        "it\n"
        "is that of the last: `second` of a universal joint. Cut open, a universal joint is the\n"
        "loop kind `universal`, but with the angle that its axes have; a cylindrical one is the\n"
        "kind `cylinder`; then their coordinates have no names.\n");
}

static void print_function(const OpInfo *op)
{
    static const char *const arguments[] = {"", "a", "a, b", "a, b, c"};
    printf("`%s(%s)`", op->name, arguments[op->operands]);
}

static void print_formulas(void)
{
    printf(
        "\n## Formulas\n\n"
        "From loose to tight: `c ? a : b`, `||`, `&&`, then `< <= > >= == !=`, then `+ -`, then\n"
        "`* /`, then the signs `- + !`, then `a^b`. A comparison is 1 when it holds and 0 when "
        "not;\n"
        "whatever is not 0 counts as true. Numbers are decimal: `0.5`, `1e-3`.\n\n"
        "Functions:\n");
    const char *end = "";
    for (int i = 0; i < OP_COUNT; i++) {
        if (tr_op[i].form != FORM_CALL) continue;
        printf("%s", end);
        print_function(&tr_op[i]);
        end = ",\n";
    }
    printf(
        ".\n`min` and `max` take two arguments or more. `if(a, b, c)` is b when a holds, else c.\n"
        "`d(x)` is the time derivative of any formula along the motion. Functions of your own "
        "stand\n"
        "under `functions`: `ramp(t, a, b): if(t < a, 0, if(t < b, (t - a)/(b - a), 1))`.\n");
}

static void print_tables(void)
{
    printf(
        "\n"
        "## Tables\n"
        "\n"
        "What stands under `tables` is called like a function, of one argument or of two, "
        "wherever\n"
        "formulas stand:\n"
        "\n"
        "```yaml\n"
        "tables:\n"
        "  hill: {file: hill.asc, degree: 3, shift: \"690000, 5334000\"}\n"
        "  motor: {x: \"0, 100, 200\", value: \"5, 4, 0\", outside: hold}\n"
        "  left: {file: log.csv, x: t, value: left_ticks}\n"
        "  tyre: {file: tyre.csv, degree: 3, outside: extend}\n"
        "  gear: {x: \"0, 1\", y: \"0, 10, 20\", value: \"1, 2, 3, 4, 5, 6\"}\n"
        "```\n"
        "\n"
        "Lists are numbers: tables do not follow parameters. With a second list `y`, values come\n"
        "x by x. A .csv file with a row of names gives a table of one variable by two of its\n"
        "columns; without `x` and `value` it is a grid, with y in its first row behind a corner\n"
        "that may hold anything, and x in the first column of the others. Files called .asc are\n"
        "ESRI's: rows come from the north, and with `xllcorner` the values are those of the\n"
        "middles of cells; x grows to the east, y to the north, and NODATA, -9999 where the file\n"
        "does not say, is refused. x and y ascend, every field is a finite number, and rows are\n"
        "equally long.\n"
        "\n"
        "A spline of degree 3 has no knot next to its ends, so it is exact for cubic polynomials;\n"
        "through three points it is a parabola. `shift` moves the origin: what the file calls\n"
        "(x0, y0) is (0, 0) in formulas. A table's value is that of the file times `scale`, plus\n"
        "`offset`.\n"
        "\n"
        "Where a table of degree 0 jumps, one of degree 1 bends, or one that holds meets its\n"
        "border, steps end and start anew. With `outside: stop` a run ends where the table is "
        "left\n"
        "by a formula that takes part, which a branch of `if` that is not taken does not; beyond "
        "the\n"
        "border it goes on as with `extend` for as long as it takes to find that out. Files are "
        "part\n"
        "of the model's hash in certificates.\n");
}

static void print_signals(void)
{
    printf(
        "\n"
        "## Recorded signals\n"
        "\n"
        "`signals` makes a table of each column of a file at once, and an input may be a formula "
        "of t:\n"
        "\n"
        "```yaml\n"
        "inputs: {steer: steer_log(t), brake: 0}\n"
        "signals:\n"
        "  file: log.csv\n"
        "  time: t\n"
        "  degree: 1\n"
        "  columns: {steer_log: steer_deg, speed_log: v}\n"
        "  scale: {steer_log: pi/180}\n"
        "```\n"
        "\n"
        "Times need not be evenly apart. A column that is missing or there twice, times that do "
        "not\n"
        "ascend, empty fields and NaN are refused with the file and the line, which the "
        "names\n"
        "are the first of.\n"
        "\n"
        "Such an input follows its formula until a number replaces it: from `--set`, from `set` "
        "of a\n"
        "case, or during a run from a controller or by tr_run_set. `d(steer)` is its rate, and 0 "
        "once\n"
        "a number replaces it; how fast other inputs change is not known. `linearise` and `lqr` "
        "take\n"
        "the number that it is at the start, `steady` refuses it. A motion that follows a signal "
        "of\n"
        "degree 3 is smooth, of degree 1 it strikes what hangs from it at each time of the file, "
        "and\n"
        "of degree 0 it is refused.\n");
}

static void print_files(void)
{
    printf(
        "\n## Files in files\n"
        "\n"
        "A model file may be made of others, each as often as it has copies:\n"
        "\n"
        "```yaml\n"
        "include:\n"
        "  corner:\n"
        "    file: corner.yaml\n"
        "    bind: {chassis: body}             # its chassis is our body\n"
        "    set: {k: 2*k0}                    # its parameters and inputs, by our formulas\n"
        "    each:                             # one copy for each name\n"
        "      name: [fl, fr, rl, rr]\n"
        "      px: [0.5, 0.5, -0.5, -0.5]\n"
        "      py: [0.3, -0.3, 0.3, -0.3]\n"
        "```\n"
        "\n"
        "All that has a name in `corner.yaml` is called by that of the copy, `_` and its own name "
        "here, also in\n"
        "formulas and lists: `fl_wheel`, `fl_spin`, `fl_wheel.wz`, `d(fl_spin)`, "
        "`lambda.fl_tyre.normal`, `fl_k`. Without\n"
        "`each` there is one copy, called as the include: `corner_wheel`. What is not set keeps "
        "its "
        "formula there, and\n"
        "`--set fl_k=3`, cases and the rest of this file may speak of any of these names.\n"
        "\n"
        "- `bind` says what names of the included file mean here: bodies and frames, `world` too, "
        "but also inputs, functions,\n"
        "  tables and coordinates. It may leave such a body out, or describe it to stand alone: "
        "what it says of it is left\n"
        "  out then, with the joint that holds it, its coordinate, its role and what `initial`, "
        "`guess` and the like say of it\n"
        "  alone. What hangs from it hangs from ours. An include may bind names of those above "
        "it.\n"
        "- In `each`, parameters and inputs are set, and other names are bound: "
        "`chassis: [left_bogie, right_bogie]`. Lists are\n"
        "  as long as `name`.\n"
        "- Formulas of `set` and `each` are ours; the included file knows nothing of ours but what "
        "it is given.\n"
        "- Its `gravity`, `ground`, `cases`, `name` and `minimise` are for use alone: ours hold. "
        "Its `signals` become tables.\n"
        "  What it says in `initial`, `guess`, `roles`, `commands`, `noise`, `deviations` and "
        "`reactions` holds unless we say\n"
        "  something else of the same name. Any other name that stands here already is an error.\n"
        "- Its things stand behind ours, copy by copy; bodies in that order.\n"
        "- Files that it names are looked for beside it, with the rights of this file. Included "
        "files may include others, 8\n"
        "  deep; all of them come to 2,000 copies and 16 MB at most.\n"
        "\n"
        "Mistakes in it are told with its own line and column, and with the copy: "
        "`corner.yaml:12:7: "
        "... (included by\n"
        "rover.yaml:5:3 as fl)`. `trundle check MODEL --expand` prints the model as one flat file, "
        "which is the same system.\n"
        "An included file is a model file: it can be checked and simulated alone, where it says "
        "enough for that.\n");
}

static void print_samples(void)
{
    printf(
        "\n"
        "## States, sensors and controllers\n"
        "\n"
        "```yaml\n"
        "inputs: {push: 0, wanted: 1}\n"
        "states: {motor: {rate: (push - motor)/0.02}}\n"
        "sensors: {seen: {of: cart, period: 0.01, delay: 2, sd: 0.001, seed: 1}}\n"
        "controllers:\n"
        "  hold:\n"
        "    period: 0.01\n"
        "    states: {e: 0}\n"
        "    update: {e: e + 0.01*(wanted - seen)}\n"
        "    outputs: {push: 20*(wanted - seen) + 5*e}\n"
        "roles: {cart: {torque: motor}}\n"
        "```\n"
        "\n"
        "A state has a rate and goes along with the motion. What controllers and sensors say "
        "stays from a\n"
        "sample to the next; the first is at t = 0, and then one every `period`. Runs stop there "
        "and go on\n"
        "from the other side, so no accuracy is lost; a row at the same time is recorded after "
        "the sample.\n"
        "Places, velocities, accelerations and reactions are measured as they were just before it, "
        "with what\n"
        "was set until then. In a controller's formulas a sensor, and an input that any controller "
        "sets, mean\n"
        "what is said at this very instant where it is due then, and else what was said last; "
        "`outputs` of the\n"
        "model are made of these, too. So the order of the file does not matter, and inputs that "
        "would\n"
        "depend on each other at one instant are refused: a state keeps what was. States mean what "
        "they were\n"
        "before the sample, in `outputs` and in `update`. Sensors see what others said before it. "
        "Elsewhere a\n"
        "state `e` of the controller `hold` is `hold.e`.\n"
        "\n"
        "States, sensors, states of controllers and the inputs that these set are columns. Noise "
        "of a sensor\n"
        "is the same in every run with the same seed, name and number of samples, whatever the "
        "method and\n"
        "on every machine. `d(...)` of what is held is refused, for nobody knows its rate. "
        "Sensitivities,\n"
        "standard deviations and filters do not see through samples, and refuse them. "
        "`lqr --step` writes a\n"
        "controller, `linearise --step` shows the loop that all of them close; `--set` sets inputs "
        "that no controller does, and a case may do `without` a "
        "controller.\n"
        "\n");
}

static void print_uncertainty(void)
{
    printf(
        "\n"
        "## What is not known exactly\n"
        "\n"
        "```yaml\n"
        "commands:\n"
        "  body.wz: {value: gyro(t), noise: kw*abs(body.vx)}\n"
        "noise: {throttle: 0.02}\n"
        "forces: {wind: {body: hull, noise: \"4, 4, 0\"}}\n"
        "deviations: {body.x: 0.5, body.theta: 0.1, hull.rz: 0.05}\n"
        "fixes:\n"
        "  gps: {file: gps.csv, time: t, of: {body.x: east, body.y: north}, sd: {body.x: 0.5, "
        "body.y: 0.5}}\n"
        "```\n"
        "\n"
        "`noise` is a spectral density: what is disturbed for a second by white noise of density "
        "q\n"
        "[unit^2 s] is off by sqrt(q) unit s in all. `deviations` are standard deviations at the\n"
        "start, of coordinates and velocities, and of turns of a free base about its own axes, "
        "B.rx\n"
        "B.ry B.rz; what follows from constraints follows. Where there is any of these, a run has\n"
        "columns `sd(NAME)`, the standard deviations of coordinates, velocities, outputs and "
        "places\n"
        "of contacts, and `cov(A:B)` of two coordinates of a body and of a contact's place; the\n"
        "certificate has the whole `covariance` at the end. They are exact to first order. What "
        "white\n"
        "noise enters at once has none: accelerations, forces, and velocities in first order. How "
        "a\n"
        "free base is turned has none by itself: outputs such as `B.yaw` have.\n"
        "\n"
        "With `--filter` fixes correct the state when they were measured, and columns\n"
        "`innovation.FIX.FORMULA` and `consistency.FIX` tell of the last one: what was measured "
        "less\n"
        "what was expected, and the sum of its squares against what it should be, about as large "
        "as\n"
        "the numbers that were measured. Whole turns of angles do not count.\n");
}

int main(void)
{
    printf("%s%s%s%s%s%s", introduction, rules, precedence, terrain, restraints, use_and_results);
    for (size_t i = 0; i < tr_kind_count; i++) print_kind(&tr_kinds[i]);
    print_joints();
    print_formulas();
    print_tables();
    print_signals();
    print_files();
    print_samples();
    print_uncertainty();
    return ferror(stdout) || fflush(stdout) != 0;
}
