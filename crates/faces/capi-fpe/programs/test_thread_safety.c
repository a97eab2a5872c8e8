/*
 * Whether threads disturb each other: eight share a context for each mode and cipher, and each compares
 * every result with what one thread alone computed before. Prints how fast they were by the way.
 */
#include "measure.h"

#include <pthread.h>

enum { THREADS = 8, VALUES = 64, DIGITS = 16 };

typedef struct {
    unsigned int plain[DIGITS];
    unsigned int cipher[DIGITS];
} Pair;

typedef struct {
    FPE_CTX *ctx;
    FPE_MODE mode;
    const Pair *pairs;
    unsigned long count;
    unsigned long wrong;
} Worker;

static void *work(void *given)
{
    Worker *worker = given;
    unsigned int out[DIGITS], tweak = mode_tweak(worker->mode);
    for (unsigned long i = 0; i < worker->count; i++) {
        const Pair *pair = &worker->pairs[i % VALUES];
        worker->wrong += FPE_encrypt(worker->ctx, pair->plain, out, DIGITS, MEASURED_TWEAK, tweak) != 0;
        worker->wrong += memcmp(out, pair->cipher, sizeof out) != 0;
        worker->wrong += FPE_decrypt(worker->ctx, out, out, DIGITS, MEASURED_TWEAK, tweak) != 0;
        worker->wrong += memcmp(out, pair->plain, sizeof out) != 0;
        /* A refusal in between must not disturb anybody. */
        worker->wrong += FPE_encrypt(worker->ctx, out, out, 1, MEASURED_TWEAK, tweak) != -1;
        worker->wrong += FPE_last_error() != FPE_ERR_DOMAIN;
    }
    return NULL;
}

static unsigned long together(FPE_MODE mode, const Cipher *cipher, unsigned long count)
{
    static Pair pairs[VALUES];
    Worker workers[THREADS];
    pthread_t handles[THREADS];
    char label[64];
    unsigned long wrong = 0;
    FPE_CTX *ctx = measured_context(mode, cipher, 10);
    for (unsigned int i = 0; i < VALUES; i++) {
        for (unsigned int k = 0; k < DIGITS; k++)
            pairs[i].plain[k] = (i * 31 + k * 7) % 10;
        if (FPE_encrypt(ctx, pairs[i].plain, pairs[i].cipher, DIGITS, MEASURED_TWEAK, mode_tweak(mode)) != 0)
            stop("encrypt");
    }
    double start = wall_clock();
    for (unsigned int i = 0; i < THREADS; i++) {
        workers[i] = (Worker){ ctx, mode, pairs, count, 0 };
        if (pthread_create(&handles[i], NULL, work, &workers[i]) != 0)
            stop("no thread");
    }
    for (unsigned int i = 0; i < THREADS; i++) {
        pthread_join(handles[i], NULL);
        wrong += workers[i].wrong;
    }
    snprintf(label, sizeof label, "%s %s %d threads, %lu wrong", mode_name(mode), cipher->name, THREADS, wrong);
    print_rate(label, 2.0 * THREADS * (double)count, wall_clock() - start);
    FPE_CTX_free(ctx);
    return wrong;
}

int main(int argument_count, char **arguments)
{
    static const FPE_MODE modes[] = { FPE_MODE_FF1, FPE_MODE_FF3, FPE_MODE_FF3_1 };
    unsigned long count = iterations(argument_count, arguments) / 10 + 1, wrong = 0;
    print_machine("thread safety", FPE_MODE_FF1);
    for (size_t m = 0; m < sizeof modes / sizeof modes[0]; m++)
        for (size_t c = 0; c < sizeof CIPHERS / sizeof CIPHERS[0]; c++)
            wrong += together(modes[m], &CIPHERS[c], count);
    printf("thread safety: %lu wrong\n", wrong);
    return wrong != 0;
}
