/*
 * One context for all threads. It is not changed by using it, so there is nothing to lock.
 *
 *     cc -pthread threads.c $(pkg-config --cflags --libs fpe) -o threads
 */
#include <fpe.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, VALUES = 10000 };

typedef struct {
    FPE_CTX *ctx;
    unsigned int number;
    unsigned int failed;
} Worker;

static void *work(void *given)
{
    Worker *worker = given;
    unsigned char tweak[4] = { 't', 'h', 'r', (unsigned char)worker->number };
    char plain[17], token[17];
    for (unsigned int i = 0; i < VALUES; i++) {
        snprintf(plain, sizeof plain, "%016u", i);
        if (FPE_encrypt_str(worker->ctx, "0123456789", plain, token, tweak, sizeof tweak) != 0) {
            /* Errors belong to the thread that made them. */
            fprintf(stderr, "thread %u: %s\n", worker->number, FPE_last_error_text());
            worker->failed++;
        }
    }
    return NULL;
}

int main(void)
{
    static const unsigned char key[16] = { 7 };
    pthread_t threads[THREADS];
    Worker workers[THREADS];
    unsigned int failed = 0, started = 0;
    FPE_CTX *ctx = FPE_CTX_new();
    if (ctx == NULL || FPE_CTX_init(ctx, FPE_MODE_FF1, FPE_ALGO_AES, key, 128, 10) != 0) {
        fprintf(stderr, "%s\n", FPE_last_error_text());
        FPE_CTX_free(ctx);
        return 1;
    }
    while (started < THREADS) {
        workers[started] = (Worker){ .ctx = ctx, .number = started };
        if (pthread_create(&threads[started], NULL, work, &workers[started]) != 0)
            break;
        started++;
    }
    for (unsigned int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        failed += workers[i].failed;
    }
    printf("%u threads, %u values each, %u failed\n", started, VALUES, failed);
    /* Only after all have ended. */
    FPE_CTX_free(ctx);
    return failed != 0 || started != THREADS;
}
