// SPDX-License-Identifier: Apache-2.0
// Times that come again and again, as round as their period is written.
#ifndef TR_NUM_PERIOD_H
#define TR_NUM_PERIOD_H

typedef struct Period {
    double seconds;
    double over, under; // it is their quotient to the last bit, both whole; 0 where none is found
} Period;

Period tr_period_of(double seconds);
double tr_period_time(const Period *period, double k); // of the k-th, from 0
// The shortest time that is whole multiples of both; `under` is 0 where there is none.
Period tr_period_common(Period a, Period b);

#endif
