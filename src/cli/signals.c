// SPDX-License-Identifier: Apache-2.0
// Signals that end the process take its temporary files along. A run may ask that the first one
// only stops it, so that what there is can be kept; the second ends the process whatever it does.
#include "cli/cli.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef enum Answer { ENDS, STOPS } Answer; // the process; a run, at first

static const struct {
    int number;
    Answer answer;
} signals[] = {
    {SIGINT, STOPS},   {SIGTERM, STOPS}, {SIGHUP, STOPS}, {SIGXCPU, STOPS}, {SIGQUIT, ENDS},
    {SIGPIPE, ENDS},   {SIGALRM, ENDS},  {SIGUSR1, ENDS}, {SIGUSR2, ENDS},  {SIGABRT, ENDS},
    {SIGSEGV, ENDS},   {SIGBUS, ENDS},   {SIGFPE, ENDS},  {SIGILL, ENDS},   {SIGSYS, ENDS},
    {SIGVTALRM, ENDS}, {SIGPROF, ENDS},
};
enum { SIGNALS = sizeof signals / sizeof *signals };

static volatile sig_atomic_t stopped;

static const char *volatile crash_words;

void cli_say_of_crashes(const char *words) { crash_words = words; }

// Whose fault it may be, where somebody else's code runs
static void say_words(int number)
{
    const bool is_crash = number == SIGSEGV || number == SIGABRT || number == SIGBUS ||
                          number == SIGFPE || number == SIGILL;
    if (!is_crash || !crash_words) return;
    if (write(2, crash_words, strlen(crash_words)) < 0) return; // there is nobody to tell
}

// As if nobody had handled it, but for the files
static void end(int number)
{
    say_words(number);
    tr_remove_temporaries();
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    signal(number, SIG_DFL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    _exit(128 + number);
}

static void stop(int number)
{
    if (stopped) end(number);
    stopped = 1;
}

// One that is ignored, or handled by others, stays so, unless it is taken anyway. A stack of its
// own serves where the other one has no room left.
static void handle(int number, void (*handler)(int), bool anyway)
{
    struct sigaction was, action = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigfillset(&action.sa_mask);
    if (sigaction(number, NULL, &was) == 0 && (anyway || was.sa_handler == SIG_DFL))
        sigaction(number, &action, NULL);
}

void cli_handle_signals(void)
{
    static char room[1 << 16];
    sigaltstack(&(stack_t){.ss_sp = room, .ss_size = sizeof room}, NULL);
    for (int i = 0; i < SIGNALS; i++) handle(signals[i].number, end, false);
    signal(SIGXFSZ, SIG_IGN); // a file that grows too large is an error of writing
}

void cli_let_signals_stop(void)
{
    struct sigaction was;
    for (int i = 0; i < SIGNALS; i++) {
        if (signals[i].answer != STOPS) continue;
        const bool goes_on = signals[i].number == SIGHUP && // as nohup asks
                             sigaction(SIGHUP, NULL, &was) == 0 && was.sa_handler == SIG_IGN;
        if (!goes_on) handle(signals[i].number, stop, true);
    }
}

bool cli_is_stopped(void) { return stopped; }
