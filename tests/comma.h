// SPDX-License-Identifier: Apache-2.0
// A locale in which decimals have a comma, as in most of Europe. Few computers that test have one,
// so it is made here.
#ifndef TR_TESTS_COMMA_H
#define TR_TESTS_COMMA_H

#include "folder.h"

#include <locale.h>

// False, aloud, where it cannot be made. setlocale(LC_ALL, "C") ends it.
static inline bool use_commas(void)
{
    static const char source[] = "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \"\"\n"
                                 "grouping -1\nEND LC_NUMERIC\n";
    char path[320], command[1200], text[8];
    make_folder(path, sizeof path - 10);
    snprintf(command, sizeof command, "%s/source", path);
    write_text(command, source);
    // It warns of all else that such a locale could have.
    snprintf(command, sizeof command,
             "localedef -c -i '%s/source' -f ANSI_X3.4-1968 '%s/comma' >'%s/words' 2>&1", path,
             path, path);
    const int made = system(command);
    setenv("LOCPATH", path, 1);
    const bool is_there = setlocale(LC_NUMERIC, "comma") != NULL;
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -r '%s'", path);
    assert_int_equal(system(command), 0);
    snprintf(text, sizeof text, "%.1f", 0.5);
    if (is_there) assert_string_equal(text, "0,5");
    if (!is_there)
        print_message("no locale with decimal commas can be made here (localedef: %d)\n", made);
    return is_there;
}

#endif
