/*
 * A column of values in one call: the same tweak for all, or one each, over two threads.
 *
 *     cc batch.c $(pkg-config --cflags --libs fpe) -o batch
 */
#include <fpe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 100000, DIGITS = 16 };

static const unsigned char KEY[16] = { 42 };
static const unsigned char TWEAK[] = "cards";

static void fill(char *column)
{
    for (int i = 0; i < RECORDS; i++) {
        char number[DIGITS + 1];
        snprintf(number, sizeof number, "%016llu", 4000000000000000ULL + (unsigned long long)i * 104729ULL);
        memcpy(column + (size_t)DIGITS * (size_t)i, number, DIGITS);
    }
}

int main(void)
{
    size_t bytes = (size_t)RECORDS * DIGITS;
    char *column = malloc(bytes), *tokens = malloc(bytes);
    unsigned char *row_tweaks = malloc((size_t)RECORDS * 4);
    FPE_CTX *ctx = FPE_CTX_new();
    int failed = 1;
    if (column == NULL || tokens == NULL || row_tweaks == NULL || ctx == NULL ||
        FPE_CTX_init(ctx, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10) != 0)
        goto end;
    fill(column);

    FPE_BATCH batch = {
        .size = sizeof batch, .records = RECORDS, .len = DIGITS, .alphabet = "0123456789",
        .tweak = TWEAK, .tweak_len = sizeof TWEAK - 1, .threads = 2,
    };
    if (FPE_encrypt_batch(ctx, &batch, column, tokens) != 0)
        goto end;
    printf("%.16s becomes %.16s\n", column, tokens);
    if (FPE_decrypt_batch(ctx, &batch, tokens, tokens) != 0 || memcmp(column, tokens, bytes) != 0)
        goto end;

    /* With the number of the row as tweak, equal values become different ones. */
    for (unsigned int i = 0; i < RECORDS; i++)
        for (unsigned int k = 0; k < 4; k++)
            row_tweaks[4 * i + k] = (unsigned char)(i >> (8 * k));
    batch.tweak = row_tweaks;
    batch.tweak_len = 4;
    batch.tweak_each = 1;
    memcpy(column + DIGITS, column, DIGITS);
    if (FPE_encrypt_batch(ctx, &batch, column, tokens) != 0)
        goto end;
    printf("%.16s becomes %.16s and %.16s\n", column, tokens, tokens + DIGITS);

    /* A bad record is named, and nothing is written. */
    column[3 * DIGITS + 5] = '-';
    if (FPE_encrypt_batch(ctx, &batch, column, tokens) == 0)
        goto end;
    printf("%s\n", FPE_last_error_text());
    failed = 0;
end:
    if (failed)
        fprintf(stderr, "%s\n", FPE_last_error_text());
    FPE_CTX_free(ctx);
    free(column);
    free(tokens);
    free(row_tweaks);
    return failed;
}
