// SPDX-License-Identifier: Apache-2.0
// In place of this folder where there was no FLINT when trundle was built
#include "base/error.h"
#include "base/options.h"

void tr_equations_fill(tr_equations_options *options, size_t size)
{
    const tr_equations_options plain = {
        .size = size, .show = "", .language = "", .title = "", .style = "", .effort = 1};
    tr_give_options(options, size, &plain, sizeof plain);
}

static char *refuse(tr_error *err)
{
    tr_fail(err, TR_FAILED, (Place){0},
            "this trundle was built without FLINT, which equations in closed form need");
    return NULL;
}

char *tr_equations_text(const tr_system *system, const tr_equations_options *options, tr_error *err)
{
    (void)system, (void)options;
    return refuse(err);
}

char *tr_explain(const tr_system *system, const tr_equations_options *options, tr_error *err)
{
    (void)system, (void)options;
    return refuse(err);
}
