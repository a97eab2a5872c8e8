/*
 * D8: what stays in memory. Each operation runs on a thread of its own, whose stack was filled with one
 * byte before; afterwards the stack is searched for the key, its round keys, and the plaintext in all
 * forms that it takes on the way. What is freed on the heap is searched when it is freed.
 *
 * Looking at memory that a finished thread has left is fine because it is ours; free is replaced by a
 * function of this program, which needs the GNU library.
 */
#include "check.h"

#include <malloc.h>
#include <pthread.h>
#include <stdint.h>

extern void __libc_free(void *);

enum { STACK = 256 << 10, DIGITS = 32, RECORDS = 200 };

static const char ALPHABET[] = "0123456789";
static const char PLAIN[DIGITS + 1] = "31415926535897938279502884197169";
static const unsigned char TWEAK[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };

static unsigned int numbers[DIGITS];
static unsigned char bytes[RECORDS * DIGITS], results[RECORDS * DIGITS];
static unsigned int out[DIGITS];
static char text[DIGITS + 1];

/* ---- What is sought -------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    unsigned char bytes[32];
    size_t len;
} Needle;

static Needle needles[32];
static size_t needle_count;

static void seek(const char *name, const void *data, size_t len)
{
    Needle *needle = &needles[needle_count++];
    needle->name = name;
    memcpy(needle->bytes, data, len);
    needle->len = len;
}

static void reversed(unsigned char *to, const void *from, size_t len)
{
    for (size_t i = 0; i < len; i++)
        to[i] = ((const unsigned char *)from)[len - 1 - i];
}

static void seek_number(const char *name, uint64_t number)
{
    unsigned char turned[8];
    seek(name, &number, 7);
    reversed(turned, &number, 8);
    seek(name, turned + 1, 7);
}

static void prepare(void)
{
    /* Rounds 1 and 10 of the worked example of FIPS 197 for this key. */
    static const unsigned char first[16] = { 0xA0, 0xFA, 0xFE, 0x17, 0x88, 0x54, 0x2C, 0xB1,
                                             0x23, 0xA3, 0x39, 0x39, 0x2A, 0x6C, 0x76, 0x05 };
    static const unsigned char last[16] = { 0xD0, 0x14, 0xF9, 0xA8, 0xC9, 0xEE, 0x25, 0x89,
                                            0xE1, 0x3F, 0x0C, 0xC8, 0xB6, 0x63, 0x0C, 0xA6 };
    unsigned char turned[16];
    unsigned char narrow[8];
    unsigned short words[8];
    for (int i = 0; i < DIGITS; i++)
        numbers[i] = (unsigned)(PLAIN[i] - '0');
    for (int i = 0; i < RECORDS * DIGITS; i++)
        bytes[i] = (unsigned char)numbers[i % DIGITS];
    /* The halves of the key, because a schedule may keep words in another order. */
    seek("key", KEY, 8);
    seek("key", KEY + 8, 8);
    reversed(turned, KEY, 16);
    seek("key, turned", turned, 8);
    seek("key, turned", turned + 8, 8);
    seek("first round key", first, 8);
    seek("last round key", last, 8);
    for (int half = 0; half < DIGITS; half += DIGITS / 2) {
        uint64_t number = 0, backwards = 0;
        for (int i = 0; i < DIGITS / 2; i++) {
            number = number * 10 + numbers[half + i];
            backwards = backwards * 10 + numbers[half + DIGITS / 2 - 1 - i];
        }
        seek_number("half", number);
        seek_number("half, turned", backwards);
        for (int i = 0; i < 8; i++) {
            narrow[i] = (unsigned char)numbers[half + i];
            words[i] = (unsigned short)numbers[half + i];
        }
        seek("digits in bytes", narrow, 8);
        seek("digits in 16 bits", words, sizeof words);
        seek("digits in 32 bits", numbers + half, 32);
        seek("text", PLAIN + half, 8);
    }
}

static const char *found_in(const unsigned char *memory, size_t len)
{
    for (size_t n = 0; n < needle_count; n++)
        for (size_t at = 0; at + needles[n].len <= len; at++)
            if (memory[at] == needles[n].bytes[0] && memcmp(memory + at, needles[n].bytes, needles[n].len) == 0)
                return needles[n].name;
    return NULL;
}

/* ---- The heap -------------------------------------------------------------------------------------- */

static const char *volatile left_on_heap;
static volatile int watching;

void free(void *memory)
{
    if (watching && memory != NULL) {
        const char *name = found_in(memory, malloc_usable_size(memory));
        if (name != NULL)
            left_on_heap = name;
    }
    __libc_free(memory);
}

/* ---- The operations -------------------------------------------------------------------------------- */

typedef struct {
    const char *name;
    FPE_MODE mode;
    FPE_ALGO algo;
    void (*run)(FPE_CTX *ctx, unsigned tweak_len);
    FPE_CTX *ctx;
    int failed;
} Operation;

static int sound = 1;

static void digits(FPE_CTX *ctx, unsigned t)
{
    sound &= FPE_encrypt(ctx, numbers, out, DIGITS, TWEAK, t) == 0;
    sound &= FPE_decrypt(ctx, out, out, DIGITS, TWEAK, t) == 0;
    memset(out, 0, sizeof out);
}

static void strings(FPE_CTX *ctx, unsigned t)
{
    sound &= FPE_encrypt_str(ctx, ALPHABET, PLAIN, text, TWEAK, t) == 0;
    sound &= FPE_decrypt_str(ctx, ALPHABET, text, text, TWEAK, t) == 0;
    sound &= FPE_encrypt_str(ctx, ALPHABET, text, text, TWEAK, t) == 0;
    memset(text, 0, sizeof text);
}

static void batches(FPE_CTX *ctx, unsigned t)
{
    FPE_BATCH batch = { .size = sizeof batch, .records = RECORDS, .len = DIGITS, .tweak = TWEAK, .tweak_len = t };
    sound &= FPE_encrypt_batch(ctx, &batch, bytes, results) == 0;
    sound &= FPE_decrypt_batch(ctx, &batch, results, results) == 0;
    memset(results, 0, sizeof results);
}

static void long_values(FPE_CTX *ctx, unsigned t)
{
    static unsigned int value[5000], token[5000];
    unsigned len = t == 8 ? 56 : 5000;
    for (unsigned i = 0; i < len; i++)
        value[i] = numbers[i % DIGITS];
    if (FPE_encrypt(ctx, value, token, len, TWEAK, t) != 0)
        sound &= FPE_last_error() == FPE_ERR_LENGTH;
    memset(token, 0, sizeof token);
}

static void mixed(FPE_CTX *ctx, unsigned t)
{
    size_t offsets[3] = { 0, DIGITS, 2 * DIGITS };
    FPE_BATCH batch = { .size = sizeof batch, .records = 2, .offsets = offsets, .tweak = TWEAK, .tweak_len = t };
    sound &= FPE_encrypt_batch(ctx, &batch, bytes, results) == 0;
    memset(results, 0, sizeof results);
}

static unsigned tweak_of(const Operation *operation)
{
    return operation->mode == FPE_MODE_FF3 ? 8 : 7;
}

static void *operate(void *given)
{
    Operation *operation = given;
    operation->run(operation->ctx, tweak_of(operation));
    return NULL;
}

static void *make_and_free(void *given)
{
    Operation *operation = given;
    FPE_CTX *ctx = FPE_CTX_new();
    operation->failed = FPE_CTX_init(ctx, operation->mode, operation->algo, KEY, 128, 10) != 0;
    operation->failed |= FPE_CTX_init(ctx, operation->mode, operation->algo, KEY, 128, 26) != 0;
    FPE_CTX_free(ctx);
    return NULL;
}

static void *at_once(void *given)
{
    Operation *operation = given;
    operation->failed = FPE_encrypt_oneshot(operation->mode, operation->algo, KEY, 128, 10, numbers, out, DIGITS,
                                            TWEAK, tweak_of(operation)) != 0;
    return NULL;
}

static void *leak(void *given)
{
    /* What a careless function does: a copy on the stack, and a copy that is freed as it is. */
    volatile unsigned char copy[16384];
    char *block = malloc(DIGITS);
    for (size_t i = 0; i < sizeof copy; i++)
        copy[i] = i < 8192 ? 1 : bytes[i % DIGITS];
    memcpy(block, PLAIN, DIGITS);
    free(block);
    ((Operation *)given)->failed = copy[8195] != bytes[3];
    return NULL;
}

/*
 * The deepest part of the stack that was touched must have been cleared: else the operation went deeper
 * than what is cleared after it, and what it left there was not a secret by luck alone.
 */
static int cleared_to_the_bottom(const unsigned char *stack)
{
    size_t at = 0;
    while (at < STACK && stack[at] == 0xA5)
        at++;
    /* Below the cleared part there is no more than what clearing itself puts there, a return address. */
    for (size_t i = at + 128; i < at + 384 && i < STACK; i++)
        if (stack[i] != 0)
            return 0;
    return 1;
}

/* What the operation left on the stack, and what on the heap. */
static int bottom;

static void watch(void *(*body)(void *), Operation *operation, const char *found[2])
{
    static unsigned char *stack;
    pthread_attr_t attributes;
    pthread_t thread;
    if (stack == NULL)
        stack = aligned_alloc(4096, STACK);
    memset(stack, 0xA5, STACK);
    left_on_heap = NULL;
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstack(&attributes, stack, STACK) == 0);
    watching = 1;
    CHECK(pthread_create(&thread, &attributes, body, operation) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    watching = 0;
    CHECK(pthread_attr_destroy(&attributes) == 0);
    CHECK(!operation->failed);
    found[0] = found_in(stack, STACK);
    bottom = cleared_to_the_bottom(stack);
    found[1] = left_on_heap;
}

static void judge(void *(*body)(void *), Operation *operation)
{
    static const char *const places[2] = { "stack", "heap" };
    const char *found[2];
    watch(body, operation, found);
    if (!bottom)
        fprintf(stderr, "mode %d, algorithm %d, %s: deeper than cleared\n", operation->mode, operation->algo,
                operation->name);
    CHECK(bottom);
    for (int place = 0; place < 2; place++) {
        if (found[place] != NULL)
            fprintf(stderr, "mode %d, algorithm %d, %s: %s on the %s\n", operation->mode, operation->algo,
                    operation->name, found[place], places[place]);
        CHECK(found[place] == NULL);
    }
}

int main(void)
{
    static const FPE_MODE modes[3] = { FPE_MODE_FF1, FPE_MODE_FF3, FPE_MODE_FF3_1 };
    static const struct {
        const char *name;
        void (*run)(FPE_CTX *, unsigned);
    } runs[] = {
        { "digits", digits }, { "strings", strings },  { "batch", batches },
        { "mixed", mixed },   { "long", long_values },
    };
    const char *found[2];
    prepare();

    Operation planted = { .name = "planted" };
    watch(leak, &planted, found);
    CHECK(found[0] != NULL && found[1] != NULL && !bottom);

    for (int m = 0; m < 3; m++) {
        for (int algo = 0; algo < 2; algo++) {
            Operation operation = { .name = "init and free", .mode = modes[m], .algo = (FPE_ALGO)algo };
            judge(make_and_free, &operation);
            operation.name = "at once";
            judge(at_once, &operation);
            operation.ctx = context(modes[m], operation.algo, KEY, 128, 10);
            for (size_t r = 0; r < sizeof runs / sizeof runs[0]; r++) {
                operation.name = runs[r].name;
                operation.run = runs[r].run;
                judge(operate, &operation);
            }
            left_on_heap = NULL;
            watching = 1;
            FPE_CTX_free(operation.ctx);
            watching = 0;
            CHECK(left_on_heap == NULL);
        }
    }
    CHECK(sound);
    return check_finish("wipe");
}
