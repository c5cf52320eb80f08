// SPDX-License-Identifier: Apache-2.0
// A second of a bicycle on a Cortex-M4: the stack that it took, then the bits of the state, by
// QEMU's semihosting.
#include "bicycle.h"
static int call(int what, const void *at)
{
    register int r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = at;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}
static void say(const char *text) { call(4, text); }
static void say_bits(float value)
{
    union {
        float f;
        unsigned u;
    } both;
    char out[10];
    both.f = value;
    for (int i = 0; i < 8; i++) out[i] = "0123456789abcdef"[both.u >> (28 - 4 * i) & 15];
    out[8] = '\n', out[9] = 0;
    say(out);
}
static void say_number(unsigned value)
{
    char out[12];
    int i = 11;
    out[i--] = 0, out[i--] = '\n';
    do out[i--] = (char)('0' + value % 10);
    while (value /= 10);
    say(out + i + 1);
}
static float x[BICYCLE_NX + 1], u[BICYCLE_NU + 1], p[BICYCLE_NP + 1], w[BICYCLE_NWORK + 1];
static int mode[BICYCLE_NM + 1];
extern unsigned stack_low[];
int main(void)
{
    volatile unsigned *low = stack_low;
    unsigned unused = 0, *here = (unsigned *)__builtin_frame_address(0) - 64;
    for (unsigned *at = (unsigned *)low; at < here; at++) *(volatile unsigned *)at = 0x5aa55aa5u;
    bicycle_parameters(p);
    bicycle_inputs(p, u);
    bicycle_initial(p, x, mode, w);
    for (int k = 0; k < 200; k++)
        if (bicycle_step((float)k * 0.005f, 0.005f, x, u, p, mode, w)) say("step failed\n");
    while (low[unused] == 0x5aa55aa5u) unused++;
    say_number(4 * (8192 - unused));
    for (int i = 0; i < BICYCLE_NX; i++) say_bits(x[i]);
    call(0x18, (void *)0x20026);
    return 0;
}
