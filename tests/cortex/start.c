// SPDX-License-Identifier: Apache-2.0
/* A Cortex-M4 from its reset on, in QEMU's mps2-an386: room for a stack, and semihosting. */
extern int main(void);
extern char stack_top[];
void reset(void);
__attribute__((section(".vectors"), used)) static void (*const vectors[])(void) = {
    (void (*)(void))stack_top, reset};
void reset(void)
{
    *(volatile unsigned *)0xE000ED88 |= 0xFu << 20; /* the floating point unit */
    __asm__ volatile("dsb\nisb");
    main();
    for (;;) {
    }
}
