/*
 * The rates of one mode over 1, 2, 4, 8 and 16 threads: one shared context with one value a call, and one
 * batch over the threads. More threads than processors are marked: they show the cost of sharing, no gain.
 */
#ifndef SCALING_H
#define SCALING_H

#include "measure.h"

#include <pthread.h>

enum { MOST = 16, RECORDS = 1 << 16, DIGITS = 16 };

typedef struct {
    FPE_CTX *ctx;
    FPE_MODE mode;
    unsigned long count;
    pthread_barrier_t *start;
    double began;
    double ended;
    unsigned int value[DIGITS];
} Worker;

static void *work(void *given)
{
    Worker *worker = given;
    unsigned int *value = worker->value, before[DIGITS];
    unsigned int tweak = mode_tweak(worker->mode);
    memcpy(before, value, sizeof before);
    pthread_barrier_wait(worker->start);
    worker->began = wall_clock();
    for (unsigned long i = 0; i < worker->count; i += 2) {
        /* There and back, so that the end can be compared with the start. */
        if (FPE_encrypt(worker->ctx, value, value, DIGITS, MEASURED_TWEAK, tweak) != 0 ||
            FPE_decrypt(worker->ctx, value, value, DIGITS, MEASURED_TWEAK, tweak) != 0)
            stop("a thread");
    }
    worker->ended = wall_clock();
    if (memcmp(before, value, sizeof before) != 0)
        stop("a value was changed");
    return NULL;
}

/*
 * Operations a second of so many threads, by the wall: from the first start to the last end, as the threads
 * themselves saw them. Who waits for them may be put aside meanwhile and look at the clock too late.
 */
static double singles(FPE_CTX *ctx, FPE_MODE mode, unsigned int threads, unsigned long count)
{
    static Worker workers[MOST];
    pthread_t handles[MOST];
    pthread_barrier_t start;
    if (pthread_barrier_init(&start, NULL, threads) != 0)
        stop("no barrier");
    for (unsigned int i = 0; i < threads; i++) {
        workers[i] = (Worker){ .ctx = ctx, .mode = mode, .count = count, .start = &start };
        for (unsigned int k = 0; k < DIGITS; k++)
            workers[i].value[k] = (i + k) % 10;
        if (pthread_create(&handles[i], NULL, work, &workers[i]) != 0)
            stop("no thread");
    }
    double began = 0, ended = 0;
    for (unsigned int i = 0; i < threads; i++) {
        pthread_join(handles[i], NULL);
        began = i == 0 || workers[i].began < began ? workers[i].began : began;
        ended = i == 0 || workers[i].ended > ended ? workers[i].ended : ended;
    }
    pthread_barrier_destroy(&start);
    return (double)threads * (double)((count + 1) / 2 * 2) / (ended - began);
}

static double batches(FPE_CTX *ctx, FPE_MODE mode, unsigned int threads, unsigned long count)
{
    static unsigned char column[RECORDS * DIGITS];
    unsigned long rounds = (count + RECORDS - 1) / RECORDS;
    FPE_BATCH batch = { .size = sizeof batch, .records = RECORDS, .len = DIGITS, .threads = threads,
                        .tweak = MEASURED_TWEAK, .tweak_len = mode_tweak(mode) };
    memset(column, 4, sizeof column);
    double began = wall_clock();
    for (unsigned long i = 0; i < rounds; i++)
        if (FPE_encrypt_batch(ctx, &batch, column, column) != 0 || FPE_decrypt_batch(ctx, &batch, column, column) != 0)
            stop("batch");
    double seconds = wall_clock() - began;
    for (size_t i = 0; i < sizeof column; i++)
        if (column[i] != 4)
            stop("a value of the batch was changed");
    return 2.0 * (double)rounds * RECORDS / seconds;
}

static int scaling(FPE_MODE mode, int argument_count, char **arguments)
{
    static const unsigned int numbers[] = { 1, 2, 4, 8, 16 };
    static double (*const ways[2])(FPE_CTX *, FPE_MODE, unsigned int, unsigned long) = { singles, batches };
    static const char *const names[2] = { "single", "batch" };
    unsigned long count = iterations(argument_count, arguments);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    print_machine(mode_name(mode), mode);
    for (size_t c = 0; c < sizeof CIPHERS / sizeof CIPHERS[0]; c += 3) {
        FPE_CTX *ctx = measured_context(mode, &CIPHERS[c], 10);
        for (int way = 0; way < 2; way++) {
            double one = 0;
            ways[way](ctx, mode, 1, count / 10 + 1);
            for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
                double rate = ways[way](ctx, mode, numbers[i], way == 0 ? count : 20 * count);
                one = i == 0 ? rate : one;
                printf("%s %s %-6s %2u threads  TPS: %12.0f ops/sec  %.2f times one%s\n", mode_name(mode),
                       CIPHERS[c].name, names[way], numbers[i], rate, rate / one,
                       (long)numbers[i] > processors ? "  oversubscribed" : "");
            }
        }
        FPE_CTX_free(ctx);
    }
    return 0;
}

#endif
