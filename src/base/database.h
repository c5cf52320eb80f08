// SPDX-License-Identifier: Apache-2.0
// Databases in one file, by SQLite, which is loaded when the first of them is opened: database.c is
// the only file that knows it.
#ifndef TR_BASE_DATABASE_H
#define TR_BASE_DATABASE_H

#include "base/error.h"

typedef struct Database Database;
typedef struct Query Query;

// Whether there can be databases, asked before the work whose results they are to hold.
bool tr_database_is_there(tr_error *err);
// A file; a new one is made where it is to be written. NULL with words.
Database *tr_database_open(const char *path, bool is_written, tr_error *err);
void tr_database_close(Database *database);

// Does what commands say. Where another program has the file locked it waits, ten seconds.
bool tr_database_do(Database *database, const char *commands, tr_error *err);
// Whether the last that failed waited in vain, for this file or for one that is attached
bool tr_database_is_busy(const Database *database);

// A command with values that are put into it, by number from 1; and rows that come out, by column
// from 0.
Query *tr_query_new(Database *database, const char *command, tr_error *err);
void tr_query_free(Query *query);
void tr_query_put_number(Query *query, int place, double value); // NaN: nothing
void tr_query_put_count(Query *query, int place, uint64_t value);
void tr_query_put_text(Query *query, int place, const char *text);
// Does it; true when there is a row. It begins again after the last.
bool tr_query_step(Query *query, tr_error *err);
void tr_query_restart(Query *query);
double tr_query_number(const Query *query, int column); // NaN where there is none
uint64_t tr_query_count(const Query *query, int column);
const char *tr_query_text(const Query *query, int column); // until the next step; "" for none
int tr_query_columns(const Query *query);
const char *tr_query_name(const Query *query, int column);

// "name", for commands
void tr_database_name(Buffer *command, const char *name);

#endif
