// SPDX-License-Identifier: Apache-2.0
// What users hold: "formula = value", read as formulas of a system of one's own.
#ifndef TR_EXPR_HELD_H
#define TR_EXPR_HELD_H

#include "expr/system.h"

// The two sides; without a value `right` has no text.
typedef struct HeldText {
    Text left, right;
} HeldText;
HeldText tr_held_text(const char *text);

// What formulas of a model know of its bodies: their places, and yaw, pitch and roll. A system of
// one's own knows them from then on.
void tr_held_names(System *own, tr_error *err);
Expr tr_held_angle(const SceneBody *body, int which); // 0 yaw, 1 pitch, 2 roll

// A formula that an option gives. An error says which: "--hold 'x + ': ...".
Expr tr_held_formula(System *own, const char *option, Text text, tr_error *err);

#endif
