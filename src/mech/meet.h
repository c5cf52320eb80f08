// SPDX-License-Identifier: Apache-2.0
// Where bodies meet: what contact.c and loop.c share (T43).
#ifndef TR_MECH_MEET_H
#define TR_MECH_MEET_H

#include "mech/tree.h"

// Axes that are attached to something, and how that moves, in these axes.
typedef struct Carrier {
    Pose pose; // against the world
    Motion v;  // of the body
} Carrier;

Carrier tr_carrier(Tree *tree, uint32_t link);
Carrier tr_own_carrier(Tree *tree, uint32_t link); // the body's own axes, which spin with it
// A vector in the body's own axes, in those of its carrier
Vec tr_own_axes(const Tree *tree, uint32_t link, Vec a);

static inline Vec velocity_at(const Carrier *c, Vec r) { return plus(c->v.V, cross(c->v.W, r)); }
// The velocity of the point r of c as seen from `on`, in the axes of c                  (T43)
Vec tr_velocity_on(const Carrier *on, const Carrier *c, Vec r);

uint32_t tr_common_carrier(const Tree *tree, uint32_t a, uint32_t b); // the last link, or WORLD
uint32_t tr_root_of(const Tree *tree, uint32_t link);
// A root that turns freely: its own axes are those that its velocities are in
static inline bool turns_freely(const Link *root) { return root->position_count >= 4; }

// A link's frame against that of a link above it, or the world's
Pose tr_pose_in(Tree *tree, uint32_t link, uint32_t above);
// A point of a link that is `arm` away from its origin, as seen from a link above it and in its
// axes: its velocity and how the link turns, and their rates while velocities stay the same.
typedef struct Course {
    Vec V, W;
    Vec a, alpha;
} Course;
Course tr_course(Tree *tree, uint32_t link, uint32_t above, Vec arm, Vec turning);

// v' of a link by components while velocities stay the same; false of what bends, or is described
// in axes that do not follow it
bool tr_link_drift(Tree *tree, uint32_t link, Motion *drift);
// (e.V_P)' likewise, of the point r of a link along its own direction e; or the failed expression
Expr tr_point_drift(Tree *tree, uint32_t link, Vec r, Vec e);

// A point and axes of one body, as seen from a frame of another: s and R with their rates.
typedef struct Meeting {
    Carrier body, on;
    Pose first; // the first frame, in its body's own axes
    Mat axes;   // of the second, against the world
    Vec r;      // the point, in the axes of the first carrier
    Vec s, ds;
    Mat R;
    Vec W; // how the first turns, in the axes of the second
    // While velocities stay the same, in these axes: how the second turns, and accelerations of the
    // first less those of the second, as seen from what carries both
    Vec turning, a, alpha;
} Meeting;

// Of a point `at` of one place and the frame of another
void tr_tree_meeting(Tree *tree, Anchor body, Vec at, Anchor on, Meeting *m);
// (d.s')' while velocities stay the same, for a direction d of the second: d.(a - 2 W_on x s').
// `slips` is s' as far as it is not held.                                              (T124)
Expr tr_meeting_drift(const Meeting *m, Vec d, Vec slips);
// The two ends of an element by their names; false, with words, when that cannot be
bool tr_tree_ends(Tree *tree, Value element, Value body, Value on, Anchor *first, Anchor *second);
// The meeting by names; false likewise
bool tr_tree_meet(Tree *tree, Value element, Value body, Value at, Value on, Meeting *m);
// A body that an element is about
uint32_t tr_tree_touching(Tree *tree, Value body, Value element);

// At the point r of its carrier; directions of its rows are in `axes`
Touch *tr_tree_touch(Tree *tree, uint32_t link, const Carrier *c, Vec r, Mat axes);
void tr_touch_part(Touch *touch, const char *part, Vec direction);   // a row that is a force
void tr_touch_moment(Touch *touch, const char *part, Vec direction); // after all forces

// normal, longitudinal, lateral; or roller in place of the second                    (T300)
const char *tr_contact_part(const Contact *contact, int k);
// The ground's normal in the axes of a link, of some length: that of gravity where it can be, for
// then inverse dynamics has it, too
Vec tr_normal_in(Tree *tree, uint32_t link, Expr *length);
// The acceleration that stands for gravity, in the axes of a link
Vec tr_up_in(Tree *tree, uint32_t link);
// The axle of a wheel, in the body's own axes
Vec tr_contact_axle(Tree *tree, uint32_t link, const Contact *contact);
Vec tr_contact_direction(Tree *tree, const Contact *contact); // of a skate, in its body's axes
Vec tr_contact_turning(Tree *tree, Vec direction); // how fast a formula of t turns one of these

// A field that was given although the kind of its element has no use for it is refused.
void tr_tree_check_fields(Tree *tree, FieldType type, const void *element, const char *name,
                          const char *what, const char *fields);
void tr_tree_refuse_kind(Tree *tree, Value word, Suggestion *nearest);

#endif
