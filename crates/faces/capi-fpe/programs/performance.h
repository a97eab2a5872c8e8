/*
 * The rates of one mode on one thread: by key size, and by length and radix for AES-128. Each row is warmed
 * up, and its last output is decrypted and compared outside of the measured time.
 */
#ifndef PERFORMANCE_H
#define PERFORMANCE_H

#include "measure.h"

enum { LONGEST = 64, RECORDS = 4096 };

static const char DIGITS[] = "0123456789";

typedef struct {
    FPE_CTX *ctx;
    FPE_MODE mode;
    const Cipher *cipher;
    unsigned int radix;
    unsigned int len;
    unsigned int in[LONGEST];
    unsigned int out[LONGEST];
    char text[LONGEST + 1];
    char token[LONGEST + 1];
} Row;

static void reused(Row *row, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++)
        if (FPE_encrypt(row->ctx, row->in, row->out, row->len, MEASURED_TWEAK, mode_tweak(row->mode)) != 0)
            stop("encrypt");
}

static void in_place(Row *row, unsigned long count)
{
    memcpy(row->out, row->in, sizeof row->out);
    for (unsigned long i = 0; i < count; i++)
        if (FPE_encrypt(row->ctx, row->out, row->out, row->len, MEASURED_TWEAK, mode_tweak(row->mode)) != 0)
            stop("encrypt in place");
    for (unsigned long i = 1; i < count; i++)
        if (FPE_decrypt(row->ctx, row->out, row->out, row->len, MEASURED_TWEAK, mode_tweak(row->mode)) != 0)
            stop("decrypt in place");
}

static void one_shot(Row *row, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++)
        if (FPE_encrypt_oneshot(row->mode, row->cipher->algo, MEASURED_KEY, row->cipher->bits, row->radix, row->in,
                                row->out, row->len, MEASURED_TWEAK, mode_tweak(row->mode)) != 0)
            stop("encrypt at once");
}

static void strings(Row *row, unsigned long count)
{
    for (unsigned long i = 0; i < count; i++)
        if (FPE_encrypt_str(row->ctx, DIGITS, row->text, row->token, MEASURED_TWEAK, mode_tweak(row->mode)) != 0)
            stop("encrypt a string");
    for (unsigned int i = 0; i < row->len; i++)
        row->out[i] = (unsigned int)(row->token[i] - '0');
}

static void prepare(Row *row, FPE_MODE mode, const Cipher *cipher, unsigned int radix, unsigned int len)
{
    row->ctx = measured_context(mode, cipher, radix);
    row->mode = mode;
    row->cipher = cipher;
    row->radix = radix;
    row->len = len;
    for (unsigned int i = 0; i < len; i++) {
        row->in[i] = (i * 7 + 3) % radix;
        row->text[i] = DIGITS[row->in[i] % 10];
    }
    row->text[len] = 0;
}

static void measure(Row *row, const char *what, void (*work)(Row *, unsigned long), unsigned long count)
{
    char label[96];
    unsigned int back[LONGEST];
    work(row, count / 10 + 1);
    double start = wall_clock();
    work(row, count);
    double seconds = wall_clock() - start;
    if (FPE_decrypt(row->ctx, row->out, back, row->len, MEASURED_TWEAK, mode_tweak(row->mode)) != 0 ||
        memcmp(back, row->in, row->len * sizeof *back) != 0)
        stop("the output is wrong");
    /* In place every value was encrypted once and decrypted once. */
    double operations = work == in_place ? 2.0 * (double)count - 1 : (double)count;
    snprintf(label, sizeof label, "%s %s r%u n%u %s", mode_name(row->mode), row->cipher->name, row->radix, row->len,
             what);
    print_rate(label, operations, seconds);
}

static void measure_batch(const Row *row, unsigned long count)
{
    static char column[RECORDS * LONGEST], tokens[RECORDS * LONGEST];
    unsigned long rounds = (count + RECORDS - 1) / RECORDS;
    char label[96];
    FPE_BATCH batch = { .size = sizeof batch, .records = RECORDS, .len = row->len, .alphabet = DIGITS,
                        .tweak = MEASURED_TWEAK, .tweak_len = mode_tweak(row->mode) };
    for (size_t i = 0; i < RECORDS; i++)
        memcpy(column + i * row->len, row->text, row->len);
    if (FPE_encrypt_batch(row->ctx, &batch, column, tokens) != 0)
        stop("batch");
    double start = wall_clock();
    for (unsigned long i = 0; i < rounds; i++)
        if (FPE_encrypt_batch(row->ctx, &batch, column, tokens) != 0)
            stop("batch");
    double seconds = wall_clock() - start;
    if (FPE_decrypt_batch(row->ctx, &batch, tokens, tokens) != 0 ||
        memcmp(column, tokens, (size_t)RECORDS * row->len) != 0)
        stop("the output of the batch is wrong");
    snprintf(label, sizeof label, "%s %s r%u n%u batch", mode_name(row->mode), row->cipher->name, row->radix, row->len);
    print_rate(label, (double)rounds * RECORDS, seconds);
}

static int performance(FPE_MODE mode, int argument_count, char **arguments)
{
    static const unsigned int lengths[] = { 6, 9, 12, 19, 24, 32, 56 };
    static const unsigned int radices[] = { 2, 16, 26, 36, 62, 256 };
    static Row row;
    unsigned long count = iterations(argument_count, arguments);
    print_machine(mode_name(mode), mode);
    for (size_t i = 0; i < sizeof CIPHERS / sizeof CIPHERS[0]; i++) {
        prepare(&row, mode, &CIPHERS[i], 10, 16);
        measure(&row, "reused", reused, count);
        measure(&row, "in place", in_place, count);
        measure(&row, "string", strings, count);
        measure(&row, "one-shot", one_shot, count);
        measure_batch(&row, 20 * count);
        FPE_CTX_free(row.ctx);
    }
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        prepare(&row, mode, &CIPHERS[0], 10, lengths[i]);
        measure(&row, "reused", reused, count);
        FPE_CTX_free(row.ctx);
    }
    for (size_t i = 0; i < sizeof radices / sizeof radices[0]; i++) {
        prepare(&row, mode, &CIPHERS[0], radices[i], radices[i] == 2 ? 24 : 16);
        measure(&row, "reused", reused, count);
        FPE_CTX_free(row.ctx);
    }
    return 0;
}

#endif
