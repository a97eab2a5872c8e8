/*
 * Rates on sixteen decimal digits through the eleven functions that this library shares with fpe-c: built
 * against either, it measures that one. One thread, one context for all values of a row, which is encrypted
 * again and again, and decrypted outside of the measured time to see that it was.
 */
#define _POSIX_C_SOURCE 200809L

#include <fpe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DIGITS = 16 };

static const unsigned char KEY[32] = {
    0x2B, 0x7E, 0x15, 0x16, 0x28, 0xAE, 0xD2, 0xA6, 0xAB, 0xF7, 0x15, 0x88, 0x09, 0xCF, 0x4F, 0x3C,
    0xEF, 0x43, 0x59, 0xD8, 0xD5, 0x80, 0xAA, 0x4F, 0x7F, 0x03, 0x6D, 0x6F, 0x04, 0xFC, 0x6A, 0x94,
};
static const unsigned char TWEAK[8] = { 0x39, 0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32 };

static double wall_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void must(int result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "peer: %s\n", what);
        exit(1);
    }
}

static void row(FPE_MODE mode, const char *name, FPE_ALGO algo, unsigned bits, unsigned long count)
{
    unsigned first[DIGITS], value[DIGITS];
    unsigned tweak = mode == FPE_MODE_FF3 ? 8 : 7;
    FPE_CTX *ctx = FPE_CTX_new();
    must(ctx == NULL, "no context");
    must(FPE_CTX_init(ctx, mode, algo, KEY, bits, 10), "no key");
    for (unsigned i = 0; i < DIGITS; i++)
        first[i] = value[i] = (i * 7 + 3) % 10;
    double start = wall_clock();
    for (unsigned long i = 0; i < count; i++)
        must(FPE_encrypt(ctx, value, value, DIGITS, TWEAK, tweak), "encrypt");
    double seconds = wall_clock() - start;
    for (unsigned long i = 0; i < count; i++)
        must(FPE_decrypt(ctx, value, value, DIGITS, TWEAK, tweak), "decrypt");
    must(memcmp(first, value, sizeof first), "the values do not come back");
    FPE_CTX_free(ctx);
    printf("%s TPS: %12.0f ops/sec\n", name, seconds > 0 ? (double)count / seconds : 0);
}

int main(int argument_count, char **arguments)
{
    unsigned long count = argument_count > 1 ? strtoul(arguments[1], NULL, 10) : 200000;
    row(FPE_MODE_FF1, "ff1.aes128", FPE_ALGO_AES, 128, count);
    row(FPE_MODE_FF1, "ff1.aes192", FPE_ALGO_AES, 192, count);
    row(FPE_MODE_FF1, "ff1.aes256", FPE_ALGO_AES, 256, count);
    row(FPE_MODE_FF1, "ff1.sm4", FPE_ALGO_SM4, 128, count);
    row(FPE_MODE_FF3, "ff3.aes128", FPE_ALGO_AES, 128, count);
    row(FPE_MODE_FF3, "ff3.sm4", FPE_ALGO_SM4, 128, count);
    row(FPE_MODE_FF3_1, "ff3-1.aes128", FPE_ALGO_AES, 128, count);
    row(FPE_MODE_FF3_1, "ff3-1.sm4", FPE_ALGO_SM4, 128, count);
    return 0;
}
