/* One context, many threads; and the errors of one are not those of another. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 8 };

static FPE_CTX *ctx;
static unsigned rounds;

typedef struct {
    unsigned number;
    unsigned wrong;
} Worker;

static void *work(void *given)
{
    Worker *worker = given;
    char plain[17], out[17];
    unsigned char tweak[4] = { (unsigned char)worker->number, 2, 3, 4 };
    for (unsigned i = 0; i < rounds; i++) {
        snprintf(plain, sizeof plain, "%016u", i * 7919 + worker->number);
        worker->wrong += FPE_encrypt_str(ctx, "0123456789", plain, out, tweak, sizeof tweak) != 0;
        worker->wrong += strcmp(plain, out) == 0;
        worker->wrong += FPE_decrypt_str(ctx, "0123456789", out, out, tweak, sizeof tweak) != 0;
        worker->wrong += strcmp(plain, out) != 0;
        worker->wrong += FPE_encrypt_str(ctx, "0123456789", "4111111111111111", out,
                                         (const unsigned char *)"9876543", 7) != 0;
        worker->wrong += strcmp(out, "0049466176981546") != 0;
    }
    /* Each thread makes an error of its own. */
    worker->wrong += FPE_last_error() != FPE_OK;
    unsigned digit[6] = { 0, 0, 0, 0, 0, 0 };
    if (worker->number % 2 == 0) {
        digit[worker->number % 6] = 10;
        worker->wrong += FPE_encrypt(ctx, digit, digit, 6, tweak, 4) != -1;
        worker->wrong += FPE_last_error() != FPE_ERR_DIGIT;
    } else {
        worker->wrong += FPE_encrypt(ctx, digit, digit, 1, tweak, 4) != -1;
        worker->wrong += FPE_last_error() != FPE_ERR_DOMAIN;
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    Worker workers[THREADS] = { { 0, 0 } };
    rounds = 4000 / check_stride();
    ctx = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].number = i;
        CHECK(pthread_create(&threads[i], NULL, work, &workers[i]) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(workers[i].wrong == 0);
    }
    CHECK(FPE_last_error() == FPE_OK);
    FPE_CTX_free(ctx);
    return check_finish("shared");
}
