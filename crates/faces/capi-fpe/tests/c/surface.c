/* What fpe.h has beside the 11 functions: policies, limits, errors, sizes, UTF-8, batches. */
#include "check.h"

#include <limits.h>
#include <stdint.h>

static const unsigned char TWEAK[] = "9876543";
static const char DIGITS[] = "0123456789";
static const char PLAIN[] = "4111111111111111", CIPHER[] = "0049466176981546";

/* Whether the text of the last error has these words. */
static int says(const char *words)
{
    return strstr(FPE_last_error_text(), words) != NULL;
}

static void policies(void)
{
    unsigned value[16] = { 0 };
    CHECK(FPE_get_policy() == FPE_POLICY_2016);
    FPE_CTX *before = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10);
    CHECK(FPE_set_policy(FPE_POLICY_STRICT) == 0 && FPE_get_policy() == 0);
    FPE_CTX *strict = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10);
    REFUSED(FPE_encrypt(strict, value, value, 5, TWEAK, 7), FPE_ERR_DOMAIN);
    CHECK(says("radix 10") && says("5 digits") && says("100000") && says("1000000") && says("6 digits"));
    REFUSED(FPE_encrypt(strict, value, value, 16, NULL, 0), FPE_ERR_TWEAK_EMPTY);
    REFUSED(FPE_encrypt_oneshot(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10, value, value, 16, TWEAK, 0),
            FPE_ERR_TWEAK_EMPTY);
    CHECK(FPE_encrypt(strict, value, value, 6, TWEAK, 7) == 0);
    CHECK(FPE_encrypt(before, value, value, 2, NULL, 0) == 0);
    REFUSED(FPE_CTX_set_policy(strict, FPE_POLICY_2016), FPE_ERR_INITIALISED);
    for (int mode = 1; mode < 3; mode++) {
        memset(value, 0, sizeof value);
        REFUSED(FPE_encrypt_oneshot((FPE_MODE)mode, FPE_ALGO_AES, KEY, 128, 10, value, value, 16, TWEAK,
                                    mode == 1 ? 8 : 7), FPE_ERR_ENCRYPT_REFUSED);
        CHECK(FPE_decrypt_oneshot((FPE_MODE)mode, FPE_ALGO_AES, KEY, 128, 10, value, value, 16, TWEAK,
                                  mode == 1 ? 8 : 7) == 0);
    }
    CHECK(FPE_set_policy(FPE_POLICY_2016) == 0);
    REFUSED(FPE_set_policy(0x40), FPE_ERR_POLICY_FLAGS);
    REFUSED(FPE_set_policy(UINT_MAX), FPE_ERR_POLICY_FLAGS);
    CHECK(FPE_get_policy() == FPE_POLICY_2016);

    /* The context's own policy goes before that of the process, and stays. */
    FPE_CTX *own = FPE_CTX_new();
    REFUSED(FPE_CTX_set_policy(own, 0x80), FPE_ERR_POLICY_FLAGS);
    CHECK(FPE_CTX_set_policy(own, FPE_POLICY_STRICT) == 0);
    for (int i = 0; i < 2; i++) {
        CHECK(FPE_CTX_init(own, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10) == 0);
        REFUSED(FPE_encrypt(own, value, value, 16, NULL, 0), FPE_ERR_TWEAK_EMPTY);
    }
    FPE_CTX_free(before);
    FPE_CTX_free(strict);
    FPE_CTX_free(own);
}

static void tweaks(void)
{
    unsigned value[16], loose[16], seven_zero[16];
    unsigned char tweak[9] = { 1, 2, 3, 4, 5, 6, 7, 0, 9 };
    for (int mode = 1; mode < 3; mode++) {
        FPE_CTX *strict = context((FPE_MODE)mode, FPE_ALGO_AES, KEY, 128, 10);
        for (unsigned t = 0; t < 10; t++) {
            memset(value, 0, sizeof value);
            int right = t == (mode == 1 ? 8u : 7u);
            CHECK(FPE_encrypt(strict, value, value, 16, tweak, t) == (right ? 0 : -1));
            CHECK(right || FPE_last_error() == FPE_ERR_TWEAK_LENGTH);
        }
        FPE_CTX_free(strict);
    }
    FPE_CTX *ctx = FPE_CTX_new();
    CHECK(FPE_CTX_set_policy(ctx, FPE_POLICY_2016 | FPE_POLICY_LOOSE_TWEAKS) == 0);
    CHECK(FPE_CTX_init(ctx, FPE_MODE_FF3, FPE_ALGO_AES, KEY, 128, 10) == 0);
    memset(value, 0, sizeof value);
    CHECK(FPE_encrypt(ctx, value, loose, 16, tweak, 7) == 0);
    CHECK(FPE_encrypt(ctx, value, seven_zero, 16, tweak, 8) == 0);
    CHECK(memcmp(loose, seven_zero, sizeof loose) == 0);
    REFUSED(FPE_encrypt(ctx, value, loose, 16, tweak, 6), FPE_ERR_TWEAK_LENGTH);
    REFUSED(FPE_encrypt(ctx, value, loose, 16, tweak, 9), FPE_ERR_TWEAK_LENGTH);
    FPE_CTX_free(ctx);

    unsigned char *longest = exactly(65536);
    memset(longest, 7, 65536);
    ctx = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10);
    CHECK(FPE_encrypt(ctx, value, loose, 16, longest, 65535) == 0);
    REFUSED(FPE_encrypt(ctx, value, loose, 16, longest, 65536), FPE_ERR_TWEAK_LENGTH);
    CHECK(says("65536") && says("65535"));
    FPE_CTX_free(ctx);
    ctx = FPE_CTX_new();
    CHECK(FPE_CTX_set_policy(ctx, FPE_POLICY_2016 | FPE_POLICY_LONG_TWEAKS) == 0);
    CHECK(FPE_CTX_init(ctx, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10) == 0);
    CHECK(FPE_encrypt(ctx, value, loose, 16, longest, 65536) == 0);
    FPE_CTX_free(ctx);
    free(longest);
}

static void limits(void)
{
    FPE_LIMITS l;
    CHECK(FPE_limits(FPE_MODE_FF1, 10, FPE_POLICY_STRICT, &l) == 0);
    CHECK(l.min_len == 6 && l.max_len >= 1000000 && l.max_encrypt_len == l.max_len);
    CHECK(l.min_tweak_len == 1 && l.max_tweak_len == 65535);
    CHECK(FPE_limits(FPE_MODE_FF1, 2, FPE_POLICY_2016, &l) == 0);
    CHECK(l.min_len == 7 && l.min_tweak_len == 0);
    CHECK(FPE_limits(FPE_MODE_FF3, 10, FPE_POLICY_STRICT, &l) == 0);
    CHECK(l.min_len == 6 && l.max_len == 56 && l.max_encrypt_len == 0);
    CHECK(l.min_tweak_len == 8 && l.max_tweak_len == 8);
    CHECK(FPE_limits(FPE_MODE_FF3_1, 26, FPE_POLICY_2016 | FPE_POLICY_LOOSE_TWEAKS, &l) == 0);
    CHECK(l.min_len == 2 && l.max_len == 40 && l.max_encrypt_len == 40);
    CHECK(l.min_tweak_len == 0 && l.max_tweak_len == 8);
    CHECK(FPE_limits(FPE_MODE_FF3_1_FPEC, 10, FPE_POLICY_2016, &l) == 0);
    CHECK(l.max_len == 256 && l.max_encrypt_len == 0);
    memset(&l, 0x5A, sizeof l);
    REFUSED(FPE_limits((FPE_MODE)99, 10, 0, &l), FPE_ERR_MODE);
    REFUSED(FPE_limits(FPE_MODE_FF1, 1, 0, &l), FPE_ERR_RADIX);
    REFUSED(FPE_limits(FPE_MODE_FF1, 65537, 0, &l), FPE_ERR_RADIX);
    REFUSED(FPE_limits(FPE_MODE_FF1, 10, 0x40, &l), FPE_ERR_POLICY_FLAGS);
    for (size_t i = 0; i < sizeof l; i++)
        CHECK(((unsigned char *)&l)[i] == 0x5A);

    /* Values of a million digits. */
    size_t million = 1000000;
    unsigned *value = exactly(million * sizeof *value), *out = exactly(million * sizeof *out);
    for (size_t i = 0; i < million; i++)
        value[i] = (unsigned)(i % 10);
    FPE_CTX *ctx = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10);
    if (check_stride() == 1) {
        CHECK(FPE_encrypt_ex(ctx, value, million, out, million, TWEAK, 7) == 0);
        CHECK(FPE_decrypt_ex(ctx, out, million, out, million, TWEAK, 7) == 0);
        CHECK(memcmp(value, out, million * sizeof *out) == 0);
    }
    REFUSED(FPE_encrypt(ctx, value, out, UINT_MAX, TWEAK, 7), FPE_ERR_LENGTH);
    REFUSED(FPE_encrypt_ex(ctx, value, SIZE_MAX, out, SIZE_MAX, TWEAK, 7), FPE_ERR_LENGTH);
    REFUSED(FPE_encrypt_ex(ctx, value, SIZE_MAX / 4, out, SIZE_MAX / 4, TWEAK, 7), FPE_ERR_LENGTH);
    FPE_CTX_free(ctx);
    free(value);
    free(out);
}

static void errors_and_version(void)
{
    CHECK(strcmp(FPE_version(), FPE_VERSION_STRING) == 0);
    char built[32];
    snprintf(built, sizeof built, "%d.%d.%d", FPE_VERSION_MAJOR, FPE_VERSION_MINOR, FPE_VERSION_PATCH);
    CHECK(strcmp(built, FPE_VERSION_STRING) == 0);
    CHECK(strcmp(FPE_strerror(FPE_OK), "no error") == 0);
    for (int code = -5; code < 100; code++)
        CHECK(FPE_strerror(code) != NULL && FPE_strerror(code)[0] != 0);
    CHECK(strcmp(FPE_strerror(-1), FPE_strerror(99)) == 0);
    CHECK(strcmp(FPE_strerror(FPE_ERR_DIGIT), FPE_strerror(FPE_ERR_SYMBOL)) != 0);

    /* The position is named, the value is not. */
    unsigned value[16] = { 0 };
    FPE_CTX *ctx = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10);
    value[11] = 4242;
    REFUSED(FPE_encrypt(ctx, value, value, 16, TWEAK, 7), FPE_ERR_DIGIT);
    CHECK(says("position 11") && says("radix 10") && !says("4242"));
    char out[17];
    CHECK(FPE_encrypt_str(ctx, DIGITS, PLAIN, out, TWEAK, 7) == 0);
    CHECK(FPE_last_error() == FPE_ERR_DIGIT && says("position 11"));
    CHECK(FPE_last_error_record() == SIZE_MAX);
    FPE_CTX_free(ctx);
}

static void backends(void)
{
    static const char *const words[] = { "portable", "aesni", "vaes256", "vaes512", "sm4-aesni", "sm4-gfni",
        "arm-aes", "arm-sm4" };
    char out[17];
    FPE_CTX *ctx = FPE_CTX_new();
    int served = 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (FPE_CTX_init_ex(ctx, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 16, 10, words[i]) != 0) {
            CHECK(FPE_last_error() == FPE_ERR_BACKEND && FPE_CTX_backend(ctx) == NULL);
            continue;
        }
        served++;
        CHECK(strcmp(FPE_CTX_backend(ctx), words[i]) == 0);
        CHECK(FPE_encrypt_str(ctx, DIGITS, PLAIN, out, TWEAK, 7) == 0 && strcmp(out, CIPHER) == 0);
    }
    CHECK(served >= 1);
    REFUSED(FPE_CTX_init_ex(ctx, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 16, 10, "sm4-gfni"), FPE_ERR_BACKEND);
    REFUSED(FPE_CTX_init_ex(ctx, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 16, 10, ""), FPE_ERR_BACKEND);
    REFUSED(FPE_CTX_init_ex(ctx, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 16, 10, "\xFF"), FPE_ERR_BACKEND);
    REFUSED(FPE_CTX_init_ex(ctx, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 15, 10, NULL), FPE_ERR_KEY_SIZE);
    REFUSED(FPE_CTX_init_ex(ctx, FPE_MODE_FF1, FPE_ALGO_AES, KEY, SIZE_MAX, 10, NULL), FPE_ERR_KEY_SIZE);
    REFUSED(FPE_CTX_init_ex(ctx, FPE_MODE_FF1, FPE_ALGO_SM4, KEY, 32, 10, NULL), FPE_ERR_KEY_SIZE);
    CHECK(FPE_CTX_init_ex(ctx, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 32, 10, NULL) == 0);
    FPE_CTX_free(ctx);
}

static void sizes_and_overlap(void)
{
    unsigned value[40] = { 0 }, before[40];
    char text[64] = "4111111111111111", copy[64];
    size_t written = 77;
    FPE_CTX *ctx = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10);
    memcpy(before, value, sizeof value);
    REFUSED(FPE_encrypt_ex(ctx, value, 16, value + 20, 15, TWEAK, 7), FPE_ERR_CAPACITY);
    for (int shift = 1; shift < 16; shift++) {
        REFUSED(FPE_encrypt(ctx, value, value + shift, 16, TWEAK, 7), FPE_ERR_OVERLAP);
        REFUSED(FPE_decrypt(ctx, value + shift, value, 16, TWEAK, 7), FPE_ERR_OVERLAP);
    }
    REFUSED(FPE_encrypt(ctx, value + 16, value, 16, (unsigned char *)value + 60, 8), FPE_ERR_OVERLAP);
    REFUSED(FPE_encrypt(ctx, value, value, 16, (unsigned char *)value, 8), FPE_ERR_OVERLAP);
    CHECK(memcmp(before, value, sizeof value) == 0);
    CHECK(FPE_encrypt(ctx, value, value + 16, 16, (unsigned char *)(value + 32), 8) == 0);

    REFUSED(FPE_encrypt_str(ctx, DIGITS, text, text + 3, TWEAK, 7), FPE_ERR_OVERLAP);
    memcpy(copy, text, sizeof copy);
    for (size_t capacity = 0; capacity < 17; capacity++)
        REFUSED(FPE_encrypt_str_ex(ctx, DIGITS, PLAIN, 16, text, capacity, &written, TWEAK, 7), FPE_ERR_CAPACITY);
    CHECK(memcmp(copy, text, sizeof copy) == 0 && written == 77);
    CHECK(says("17"));
    CHECK(FPE_encrypt_str_ex(ctx, DIGITS, PLAIN, 16, text, 17, &written, TWEAK, 7) == 0);
    CHECK(strcmp(text, CIPHER) == 0 && written == 16);
    CHECK(FPE_decrypt_str_ex(ctx, DIGITS, text, 16, text, sizeof text, NULL, TWEAK, 7) == 0);
    CHECK(strcmp(text, PLAIN) == 0);
    REFUSED(FPE_encrypt_str_ex(ctx, DIGITS, PLAIN, 16, text, sizeof text, (size_t *)(void *)text, TWEAK, 7),
            FPE_ERR_OVERLAP);
    REFUSED(FPE_encrypt_str_ex(ctx, DIGITS, PLAIN, 0, text, sizeof text, NULL, TWEAK, 7), FPE_ERR_DOMAIN);
    FPE_CTX_free(ctx);
}

static void utf8(void)
{
    static const char alphabet[] = "\xC3\xA4\xC3\xB6\xC3\xBC\xE2\x82\xAC" "abcdef"; /* two, three and one byte */
    static const char plain[] = "a\xC3\xA4" "b\xE2\x82\xAC" "c\xC3\xB6" "d\xC3\xBC" "ef";
    char out[64], back[64];
    size_t written = 0, returned = 0;
    FPE_CTX *ctx = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10);
    CHECK(FPE_encrypt_str_ex(ctx, alphabet, plain, strlen(plain), out, sizeof out, &written, TWEAK, 7) == 0);
    CHECK(strlen(out) == written && strcmp(out, plain) != 0);
    CHECK(FPE_decrypt_str_ex(ctx, alphabet, out, written, back, sizeof back, &returned, TWEAK, 7) == 0);
    CHECK(strcmp(back, plain) == 0 && returned == strlen(plain));
    /* The room is that of the result, which nobody knows beforehand. */
    memset(back, 'x', sizeof back);
    for (size_t capacity = 0; capacity <= returned; capacity++) {
        REFUSED(FPE_decrypt_str_ex(ctx, alphabet, out, written, back, capacity, NULL, TWEAK, 7), FPE_ERR_CAPACITY);
        CHECK(back[0] == 'x' && back[sizeof back - 1] == 'x');
    }
    CHECK(FPE_decrypt_str_ex(ctx, alphabet, out, written, back, returned + 1, NULL, TWEAK, 7) == 0);
    REFUSED(FPE_encrypt_str_ex(ctx, alphabet, "a\xFF", 2, out, sizeof out, NULL, TWEAK, 7), FPE_ERR_ENCODING);
    CHECK(says("position 1"));
    REFUSED(FPE_encrypt_str_ex(ctx, "0123456\xFF", "0123456", 7, out, sizeof out, NULL, TWEAK, 7), FPE_ERR_ENCODING);
    REFUSED(FPE_encrypt_str_ex(ctx, alphabet, "abcdez", 6, out, sizeof out, NULL, TWEAK, 7), FPE_ERR_SYMBOL);
    CHECK(says("position 5"));
    FPE_CTX_free(ctx);
}

static void batch_of_text(FPE_CTX *ctx, unsigned threads)
{
    enum { RECORDS = 1000 };
    char *in = exactly(RECORDS * 16), *out = exactly(RECORDS * 16), one[17] = { 0 }, expected[17];
    for (int i = 0; i < RECORDS; i++) {
        char number[32];
        snprintf(number, sizeof number, "%016d", i * 104729);
        memcpy(in + 16 * i, number, 16);
    }
    memcpy(in, PLAIN, 16);
    FPE_BATCH batch = { .size = sizeof batch, .records = RECORDS, .len = 16, .alphabet = DIGITS,
                        .tweak = TWEAK, .tweak_len = 7, .threads = threads };
    CHECK(FPE_encrypt_batch(ctx, &batch, in, out) == 0);
    CHECK(memcmp(out, CIPHER, 16) == 0);
    for (int i = 0; i < RECORDS; i += 37) {
        memcpy(one, in + 16 * i, 16);
        CHECK(FPE_encrypt_str(ctx, DIGITS, one, expected, TWEAK, 7) == 0);
        CHECK(memcmp(out + 16 * i, expected, 16) == 0);
    }
    CHECK(FPE_decrypt_batch(ctx, &batch, out, out) == 0);
    CHECK(memcmp(in, out, RECORDS * 16) == 0);

    /* One bad record and nothing is written. */
    in[16 * 700 + 9] = 'x';
    memset(out, 'u', RECORDS * 16);
    REFUSED(FPE_encrypt_batch(ctx, &batch, in, out), FPE_ERR_SYMBOL);
    CHECK(FPE_last_error_record() == 700 && says("record 700") && says("position 9"));
    for (int i = 0; i < RECORDS * 16; i++)
        if (out[i] != 'u')
            CHECK(!"untouched");
    free(in);
    free(out);
}

static void batch_of_mixed_records(FPE_CTX *ctx)
{
    enum { RECORDS = 200 };
    size_t offsets[RECORDS + 1] = { 0 }, tweak_offsets[RECORDS + 1] = { 0 };
    for (size_t i = 0; i < RECORDS; i++) {
        offsets[i + 1] = offsets[i] + 6 + i % 30;
        tweak_offsets[i + 1] = tweak_offsets[i] + i % 9;
    }
    size_t digits = offsets[RECORDS];
    unsigned *in = exactly(digits * sizeof *in), *out = exactly(digits * sizeof *out), one[64];
    unsigned char *tweaks = exactly(tweak_offsets[RECORDS]);
    for (size_t i = 0; i < digits; i++)
        in[i] = (unsigned)(i * 31 % 10);
    for (size_t i = 0; i < tweak_offsets[RECORDS]; i++)
        tweaks[i] = (unsigned char)i;
    FPE_BATCH batch = { .size = sizeof batch, .records = RECORDS, .offsets = offsets, .width = 4,
                        .tweak = tweaks, .tweak_offsets = tweak_offsets };
    CHECK(FPE_encrypt_batch(ctx, &batch, in, out) == 0);
    for (size_t i = 0; i < RECORDS; i++) {
        size_t len = offsets[i + 1] - offsets[i], t = tweak_offsets[i + 1] - tweak_offsets[i];
        CHECK(FPE_encrypt_ex(ctx, in + offsets[i], len, one, 64, tweaks + tweak_offsets[i], t) == 0);
        CHECK(memcmp(one, out + offsets[i], len * sizeof *one) == 0);
    }
    CHECK(FPE_decrypt_batch(ctx, &batch, out, out) == 0 && memcmp(in, out, digits * sizeof *in) == 0);

    /* Offsets that fall, or do not begin at 0. */
    size_t kept = offsets[50];
    offsets[50] = offsets[51] + 1;
    REFUSED(FPE_encrypt_batch(ctx, &batch, in, out), FPE_ERR_BATCH);
    offsets[50] = kept;
    offsets[0] = 1;
    REFUSED(FPE_encrypt_batch(ctx, &batch, in, out), FPE_ERR_BATCH);
    offsets[0] = 0;
    kept = tweak_offsets[50];
    tweak_offsets[50] = SIZE_MAX;
    REFUSED(FPE_encrypt_batch(ctx, &batch, in, out), FPE_ERR_BATCH);
    tweak_offsets[50] = kept;
    CHECK(memcmp(in, out, digits * sizeof *in) == 0);
    free(in);
    free(out);
    free(tweaks);
}

static void batch_refusals(FPE_CTX *ctx)
{
    unsigned short wide[32] = { 0 };
    unsigned char tweaks[14] = { 1 };
    FPE_BATCH good = { .size = sizeof good, .records = 2, .len = 16, .width = 2, .tweak = tweaks,
                       .tweak_len = 7, .tweak_each = 1 };
    CHECK(FPE_encrypt_batch(ctx, &good, wide, wide) == 0);
    FPE_BATCH bad = good;
    bad.size = sizeof bad - 1;
    REFUSED(FPE_encrypt_batch(ctx, &bad, wide, wide), FPE_ERR_BATCH);
    bad = good, bad.width = 3;
    REFUSED(FPE_encrypt_batch(ctx, &bad, wide, wide), FPE_ERR_WIDTH);
    bad = good, bad.tweak_each = 2;
    REFUSED(FPE_encrypt_batch(ctx, &bad, wide, wide), FPE_ERR_BATCH);
    bad = good, bad.records = SIZE_MAX;
    REFUSED(FPE_encrypt_batch(ctx, &bad, wide, wide), FPE_ERR_SIZE);
    bad = good, bad.records = SIZE_MAX / 2;
    REFUSED(FPE_encrypt_batch(ctx, &bad, wide, wide), FPE_ERR_SIZE);
    bad = good, bad.len = 1;
    REFUSED(FPE_encrypt_batch(ctx, &bad, wide, wide), FPE_ERR_DOMAIN);
    bad = good, bad.alphabet = DIGITS;
    REFUSED(FPE_encrypt_batch(ctx, &bad, wide, wide), FPE_ERR_BATCH);
    bad = good, bad.alphabet = "\xC3\xA4" "123456789", bad.width = 1;
    REFUSED(FPE_encrypt_batch(ctx, &bad, wide, wide), FPE_ERR_ALPHABET_NOT_ASCII);
    unsigned short other[40] = { 0 };
    REFUSED(FPE_encrypt_batch(ctx, &good, wide, (unsigned char *)other + 1), FPE_ERR_ALIGNMENT);
    REFUSED(FPE_encrypt_batch(ctx, &good, wide, wide + 1), FPE_ERR_OVERLAP);
    bad = good, bad.tweak = (unsigned char *)(wide + 30);
    REFUSED(FPE_encrypt_batch(ctx, &bad, wide, wide), FPE_ERR_OVERLAP);
    FPE_CTX *large = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 1000);
    bad = good, bad.width = 1;
    REFUSED(FPE_encrypt_batch(large, &bad, wide, wide), FPE_ERR_WIDTH);
    FPE_CTX_free(large);
    bad = good, bad.records = 0;
    CHECK(FPE_encrypt_batch(ctx, &bad, wide, wide) == 0);
    wide[17] = 10;
    REFUSED(FPE_decrypt_batch(ctx, &good, wide, wide), FPE_ERR_DIGIT);
    CHECK(FPE_last_error_record() == 1 && says("position 1"));
}

int main(void)
{
    CHECK(FPE_last_error() == FPE_OK && strcmp(FPE_last_error_text(), "no error") == 0);
    policies();
    tweaks();
    limits();
    errors_and_version();
    backends();
    sizes_and_overlap();
    utf8();
    FPE_CTX *ctx = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10);
    for (unsigned threads = 0; threads <= 4; threads += 2)
        batch_of_text(ctx, threads);
    batch_of_mixed_records(ctx);
    batch_refusals(ctx);
    FPE_CTX_free(ctx);
    return check_finish("surface");
}
