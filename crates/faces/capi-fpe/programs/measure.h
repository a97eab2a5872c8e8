/*
 * What the measuring programs share: a clock, a table of ciphers, and one way of printing.
 *
 * Time is that of a clock on the wall. The time that processors spend, which clock() gives, is the sum over
 * all threads, and dividing by it makes every number of threads look the same.
 *
 *     cc -std=c11 -O2 -pthread test_ff1_mt.c $(pkg-config --cflags --libs fpe) -o test_ff1_mt
 *
 * The number of operations of one row is the first argument, else FPE_ITERATIONS, else 200,000.
 */
#ifndef MEASURE_H
#define MEASURE_H

#define _POSIX_C_SOURCE 200809L

#include <fpe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    const char *name;
    FPE_ALGO algo;
    unsigned int bits;
} Cipher;

static const Cipher CIPHERS[] = {
    { "AES-128", FPE_ALGO_AES, 128 },
    { "AES-192", FPE_ALGO_AES, 192 },
    { "AES-256", FPE_ALGO_AES, 256 },
    { "SM4-128", FPE_ALGO_SM4, 128 },
};

static const unsigned char MEASURED_KEY[32] = {
    0x2B, 0x7E, 0x15, 0x16, 0x28, 0xAE, 0xD2, 0xA6, 0xAB, 0xF7, 0x15, 0x88, 0x09, 0xCF, 0x4F, 0x3C,
    0xEF, 0x43, 0x59, 0xD8, 0xD5, 0x80, 0xAA, 0x4F, 0x7F, 0x03, 0x6D, 0x6F, 0x04, 0xFC, 0x6A, 0x94,
};

static const unsigned char MEASURED_TWEAK[8] = { 0x39, 0x38, 0x37, 0x36, 0x35, 0x34, 0x33, 0x32 };

static inline const char *mode_name(FPE_MODE mode)
{
    return mode == FPE_MODE_FF1 ? "FF1" : mode == FPE_MODE_FF3 ? "FF3" : "FF3-1";
}

static inline unsigned int mode_tweak(FPE_MODE mode)
{
    return mode == FPE_MODE_FF3 ? 8 : 7;
}

static inline unsigned long iterations(int count, char **arguments)
{
    const char *text = count > 1 ? arguments[1] : getenv("FPE_ITERATIONS");
    unsigned long asked = text != NULL ? strtoul(text, NULL, 10) : 200000;
    return asked > 0 ? asked : 1;
}

static inline double wall_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline void stop(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, FPE_last_error_text());
    exit(1);
}

static inline FPE_CTX *measured_context(FPE_MODE mode, const Cipher *cipher, unsigned int radix)
{
    FPE_CTX *ctx = FPE_CTX_new();
    if (ctx == NULL || FPE_CTX_init(ctx, mode, cipher->algo, MEASURED_KEY, cipher->bits, radix) != 0)
        stop("no context");
    return ctx;
}

static inline void print_machine(const char *title, FPE_MODE mode)
{
    FPE_CTX *aes = measured_context(mode, &CIPHERS[0], 10), *sm4 = measured_context(mode, &CIPHERS[3], 10);
    printf("%s: fpe %s, AES on %s, SM4 on %s, %ld processors\n", title, FPE_version(), FPE_CTX_backend(aes),
           FPE_CTX_backend(sm4), sysconf(_SC_NPROCESSORS_ONLN));
    FPE_CTX_free(aes);
    FPE_CTX_free(sm4);
}

/* One line for one row: `what` happened `count` times in `seconds`. */
static inline void print_rate(const char *what, double count, double seconds)
{
    double rate = seconds > 0 ? count / seconds : 0;
    printf("%-44s TPS: %12.0f ops/sec  (%.3f us)\n", what, rate, rate > 0 ? 1e6 / rate : 0);
}

#endif
