/*
 * Every golden value through fpe.h, both ways. cases.h is made by the test from the repository's vector
 * files; nothing in it comes from this library.
 */
#include "check.h"

typedef struct {
    const char *name;
    FPE_MODE mode;
    FPE_ALGO algo;
    unsigned radix;
    unsigned key_bits;
    const unsigned char *key;
    unsigned tweak_len;
    const unsigned char *tweak;
    unsigned len;
    const unsigned int *plain;
    const unsigned int *cipher;
} Case;

#include "cases.h"

static const char SYMBOLS[] = "0123456789abcdefghijklmnopqrstuvwxyz";

static int is(const char *name, const char *what, int holds)
{
    if (!holds)
        fprintf(stderr, "%s: %s\n", name, what);
    return holds;
}

/* As arrays: apart, in place, and with sizes. */
static void as_digits(const Case *c, FPE_CTX *ctx, int encrypts)
{
    size_t bytes = c->len * sizeof(unsigned int);
    unsigned int *out = exactly(bytes);
    if (encrypts) {
        CHECK(is(c->name, "encrypts", FPE_encrypt(ctx, c->plain, out, c->len, c->tweak, c->tweak_len) == 0));
        CHECK(is(c->name, "ciphertext", memcmp(out, c->cipher, bytes) == 0));
        memcpy(out, c->plain, bytes);
        CHECK(FPE_encrypt(ctx, out, out, c->len, c->tweak, c->tweak_len) == 0);
        CHECK(is(c->name, "ciphertext in place", memcmp(out, c->cipher, bytes) == 0));
    }
    CHECK(is(c->name, "decrypts", FPE_decrypt(ctx, c->cipher, out, c->len, c->tweak, c->tweak_len) == 0));
    CHECK(is(c->name, "plaintext", memcmp(out, c->plain, bytes) == 0));
    memcpy(out, c->cipher, bytes);
    CHECK(FPE_decrypt_ex(ctx, out, c->len, out, c->len, c->tweak, c->tweak_len) == 0);
    CHECK(is(c->name, "plaintext in place", memcmp(out, c->plain, bytes) == 0));
    free(out);
}

/* As strings, where the symbols suffice. */
static void as_strings(const Case *c, FPE_CTX *ctx, int encrypts)
{
    char alphabet[sizeof SYMBOLS];
    char *plain = exactly(c->len + 1), *cipher = exactly(c->len + 1), *out = exactly(c->len + 1);
    memcpy(alphabet, SYMBOLS, c->radix);
    alphabet[c->radix] = 0;
    for (unsigned i = 0; i < c->len; i++) {
        plain[i] = SYMBOLS[c->plain[i]];
        cipher[i] = SYMBOLS[c->cipher[i]];
    }
    plain[c->len] = cipher[c->len] = 0;
    if (encrypts) {
        CHECK(FPE_encrypt_str(ctx, alphabet, plain, out, c->tweak, c->tweak_len) == 0);
        CHECK(is(c->name, "ciphertext as a string", strcmp(out, cipher) == 0));
        strcpy(out, plain);
        CHECK(FPE_encrypt_str(ctx, alphabet, out, out, c->tweak, c->tweak_len) == 0);
        CHECK(is(c->name, "ciphertext as a string in place", strcmp(out, cipher) == 0));
    }
    CHECK(FPE_decrypt_str(ctx, alphabet, cipher, out, c->tweak, c->tweak_len) == 0);
    CHECK(is(c->name, "plaintext as a string", strcmp(out, plain) == 0));
    free(plain);
    free(cipher);
    free(out);
}

/* Without a context, which has the policy of the process. */
static void at_once(const Case *c, int encrypts)
{
    size_t bytes = c->len * sizeof(unsigned int);
    unsigned int *out = exactly(bytes);
    if (encrypts) {
        CHECK(FPE_encrypt_oneshot(c->mode, c->algo, c->key, c->key_bits, c->radix, c->plain, out, c->len,
                                  c->tweak, c->tweak_len) == 0);
        CHECK(is(c->name, "ciphertext at once", memcmp(out, c->cipher, bytes) == 0));
    }
    CHECK(FPE_decrypt_oneshot(c->mode, c->algo, c->key, c->key_bits, c->radix, c->cipher, out, c->len,
                              c->tweak, c->tweak_len) == 0);
    CHECK(is(c->name, "plaintext at once", memcmp(out, c->plain, bytes) == 0));
    free(out);
}

/* Three copies in a batch of the narrowest digits. */
static void as_batch(const Case *c, FPE_CTX *ctx, int encrypts)
{
    unsigned width = c->radix <= 256 ? 1 : c->radix <= 65536 ? 2 : 4;
    unsigned char *values = exactly((size_t)3 * c->len * width), *expected = exactly((size_t)3 * c->len * width);
    FPE_BATCH batch = {
        .size = sizeof batch, .records = 3, .len = c->len, .width = width,
        .tweak = c->tweak, .tweak_len = c->tweak_len,
    };
    for (int way = encrypts ? 0 : 1; way < 2; way++) {
        const unsigned int *from = way == 0 ? c->plain : c->cipher, *to = way == 0 ? c->cipher : c->plain;
        for (size_t i = 0; i < (size_t)3 * c->len; i++) {
            unsigned int a = from[i % c->len], b = to[i % c->len];
            unsigned short narrow[2] = { (unsigned short)a, (unsigned short)b };
            if (width == 1) {
                values[i] = (unsigned char)a;
                expected[i] = (unsigned char)b;
            } else {
                memcpy(values + 2 * i, narrow, 2);
                memcpy(expected + 2 * i, narrow + 1, 2);
            }
        }
        CHECK((way == 0 ? FPE_encrypt_batch : FPE_decrypt_batch)(ctx, &batch, values, values) == 0);
        CHECK(is(c->name, "batch", memcmp(values, expected, (size_t)3 * c->len * width) == 0));
    }
    free(values);
    free(expected);
}

int main(void)
{
    unsigned policy = FPE_POLICY_2016 | FPE_POLICY_LOOSE_TWEAKS | FPE_POLICY_WRITE_FPEC;
    CHECK(FPE_set_policy(policy) == 0);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const Case *c = &CASES[i];
        FPE_CTX *ctx = context(c->mode, c->algo, c->key, c->key_bits, c->radix);
        /* What fpe-c left partly in clear is read and never written. */
        int encrypts = FPE_CTX_is_partly_in_clear(ctx, c->len) == 0;
        if (!encrypts) {
            unsigned int out[256];
            REFUSED(FPE_encrypt(ctx, c->plain, out, c->len, c->tweak, c->tweak_len), FPE_ERR_LENGTH);
        }
        as_digits(c, ctx, encrypts);
        at_once(c, encrypts);
        as_batch(c, ctx, encrypts);
        if (c->radix < sizeof SYMBOLS)
            as_strings(c, ctx, encrypts);
        FPE_CTX_free(ctx);
    }
    printf("%zu cases\n", sizeof CASES / sizeof CASES[0]);
    return check_finish("golden");
}
