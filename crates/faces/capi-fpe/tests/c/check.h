/*
 * What the C tests check with. A failed check is printed with its place and counted; the program goes on,
 * and ends with 1.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fpe.h>

static unsigned long checks_made;
static unsigned long checks_failed;

static inline void check_that(int holds, const char *what, const char *file, int line)
{
    checks_made++;
    if (!holds) {
        checks_failed++;
        if (checks_failed <= 20)
            fprintf(stderr, "%s:%d: %s (last error: %s)\n", file, line, what, FPE_last_error_text());
    }
}

/* Named values make the place tell more than the line of a loop. */
#define CHECK(condition) check_that((condition) != 0, #condition, __FILE__, __LINE__)

/* The call is refused with this error. */
#define REFUSED(call, code)                                              \
    do {                                                                 \
        CHECK((call) == -1);                                             \
        check_that(FPE_last_error() == (code), #call " gives " #code, __FILE__, __LINE__); \
    } while (0)

static inline int check_finish(const char *name)
{
    printf("%s: %lu checks, %lu failed\n", name, checks_made, checks_failed);
    return checks_failed == 0 && checks_made > 0 ? 0 : 1;
}

/* Memory of exactly this size, so that a sanitiser sees the first byte beyond it. */
static inline void *exactly(size_t bytes)
{
    void *memory = malloc(bytes > 0 ? bytes : 1);
    if (memory == NULL) {
        fputs("no memory\n", stderr);
        exit(2);
    }
    return memory;
}

/* How much to leave out where every step is slow: every nth case of the long loops. */
static inline unsigned check_stride(void)
{
    const char *text = getenv("FPE_TEST_STRIDE");
    unsigned long stride = text != NULL ? strtoul(text, NULL, 10) : 1;
    return stride > 0 ? (unsigned)stride : 1;
}

static inline FPE_CTX *context(FPE_MODE mode, FPE_ALGO algo, const unsigned char *key, unsigned bits,
                               unsigned radix)
{
    FPE_CTX *ctx = FPE_CTX_new();
    if (ctx == NULL || FPE_CTX_init(ctx, mode, algo, key, bits, radix) != 0) {
        fprintf(stderr, "no context: %s\n", FPE_last_error_text());
        exit(2);
    }
    return ctx;
}

static const unsigned char KEY[32] = {
    0x2B, 0x7E, 0x15, 0x16, 0x28, 0xAE, 0xD2, 0xA6, 0xAB, 0xF7, 0x15, 0x88, 0x09, 0xCF, 0x4F, 0x3C,
    0xEF, 0x43, 0x59, 0xD8, 0xD5, 0x80, 0xAA, 0x4F, 0x7F, 0x03, 0x6D, 0x6F, 0x04, 0xFC, 0x6A, 0x94,
};

#endif
