// SPDX-License-Identifier: Apache-2.0
#include "expr/held.h"

#include <stdio.h>

// The sign between the sides is the last one that is no part of a comparison.
HeldText tr_held_text(const char *text)
{
    const char *sign = NULL;
    for (const char *at = text; *at; at++)
        if (*at == '=' && at > text && !strchr("<>=!", at[-1]) && at[1] != '=') sign = at;
    return (HeldText){text_trimmed((Text){text, sign ? (size_t)(sign - text) : strlen(text)}),
                      sign ? text_trimmed(text_of(sign + 1)) : (Text){0}};
}

static Expr angle(Expr y, Expr x) { return tr_build(OP_ATAN2, y, x, x); }

// R = Rz(yaw) Ry(pitch) Rx(roll), as T250
Expr tr_held_angle(const SceneBody *b, int which)
{
    const Expr *R = b->rotation;
    switch (which) {
    case 0: return angle(R[3], R[0]);
    case 1: return angle(neg(R[6]), e_sqrt(add(square(R[7]), square(R[8]))));
    default: return angle(R[7], R[8]);
    }
}

void tr_held_names(System *own, tr_error *err)
{
    static const char *const parts[] = {"x", "y", "z", "yaw", "pitch", "roll"};
    char name[400];
    for (uint32_t i = 0; i < own->scene.body_count; i++) {
        const SceneBody *b = &own->scene.bodies[i];
        for (int k = 0; k < 6 && !b->is_part; k++) {
            snprintf(name, sizeof name, "%s.%s", b->name, parts[k]);
            if (!tr_system_find(own, text_of(name)))
                tr_system_name(own, text_of(name), k < 3 ? b->origin[k] : tr_held_angle(b, k - 3),
                               err);
        }
    }
}

Expr tr_held_formula(System *own, const char *option, Text text, tr_error *err)
{
    tr_error inner = {0};
    tr_held_names(own, &inner);
    const Scope scope = tr_system_scope(own);
    const Expr x = tr_formula_parse(own->graph, &scope, text, (Place){0}, &inner);
    if (inner.status)
        tr_fail(err, inner.status == TR_INVALID ? TR_USAGE : inner.status, (Place){0},
                "%s '%.*s': %s", option, TEXT(text), inner.text);
    return x;
}
