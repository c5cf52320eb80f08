// SPDX-License-Identifier: Apache-2.0
// A run of a sweep that was recorded, in place of a file: "sweep.db:17" is the one of this number.
// Its rows are those of the database, and its certificate says how it was made.
#ifndef TR_SIM_SWEPT_H
#define TR_SIM_SWEPT_H

#include "base/database.h"

// A database of a sweep, to be read; NULL and an error, also where its tables are none of a file.
Database *tr_swept_open(const char *path, tr_error *err);
bool tr_is_swept(const char *path);
// Whether a database, or one attached to it as `schema`, has the tables of a sweep
bool tr_swept_has_tables(Database *file, const char *schema, tr_error *err);
// As a .csv file has them; NULL and an error where there are none.
char *tr_swept_rows(const char *path, size_t *length, tr_error *err);
// The case and the settings, with those of the run; NULL and an error.
char *tr_swept_certificate(const char *path, Text *text, tr_error *err);
// How all runs were made, as JSON with `varied`, `kept`, ...; NULL and an error.
char *tr_swept_origin(Database *file, const char *path, tr_error *err);

#endif
