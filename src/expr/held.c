// SPDX-License-Identifier: Apache-2.0
#include "expr/held.h"

// The sign between the sides is the last one that is no part of a comparison.
HeldText tr_held_text(const char *text)
{
    const char *sign = NULL;
    for (const char *at = text; *at; at++)
        if (*at == '=' && at > text && !strchr("<>=!", at[-1]) && at[1] != '=') sign = at;
    return (HeldText){text_trimmed((Text){text, sign ? (size_t)(sign - text) : strlen(text)}),
                      sign ? text_trimmed(text_of(sign + 1)) : (Text){0}};
}

Expr tr_held_formula(System *own, const char *option, Text text, tr_error *err)
{
    tr_error inner = {0};
    const Scope scope = tr_system_scope(own);
    const Expr x = tr_formula_parse(own->graph, &scope, text, (Place){0}, &inner);
    if (inner.status)
        tr_fail(err, inner.status == TR_INVALID ? TR_USAGE : inner.status, (Place){0},
                "%s '%.*s': %s", option, TEXT(text), inner.text);
    return x;
}
