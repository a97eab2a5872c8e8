/*
 * The defects that fpe-c has, one function each: what went wrong there ends here in the right value or in
 * an error. D8, secrets that stay in memory, is wipe.c; D11 and D12 are in the test that runs these
 * programs; D13 is shown by the programs that measure.
 */
#include "check.h"

#include <limits.h>
#include <stdint.h>

static const unsigned char TWEAK[16] = { 0xD8, 0xE7, 0x92, 0x0A, 0xFA, 0x33, 0x0A, 0x73, 1, 2, 3, 4, 5, 6, 7, 8 };

/* The 30 radices of the tests, with both ends. */
static const unsigned RADICES[30] = { 2,  3,  4,  5,  7,   8,   9,   10,  11,  16,   20,   26,   32,    36,    45,
                                      52, 62, 64, 85, 94, 100, 128, 255, 256, 257, 1000, 1024, 10000, 65535, 65536 };

static unsigned tweak_length(FPE_MODE mode)
{
    return mode == FPE_MODE_FF3 ? 8 : 7;
}

static void fill(unsigned *value, unsigned len, unsigned radix)
{
    for (unsigned i = 0; i < len; i++)
        value[i] = (i * 7919 + 13) % radix;
}

/* D1: the right half of the FF3-1 tweak. Both columns, and where they agree. */
static void d1_the_tweak_of_ff3_1(void)
{
    static const struct {
        FPE_ALGO algo;
        unsigned bits;
        unsigned char key[32];
        unsigned char tweak[8];
        unsigned tweak_len;
        const char *alphabet, *plain, *fpec, *standard;
    } rows[] = {
#define K1 0x2D, 0xE7, 0x9D, 0x23, 0x2D, 0xF5, 0x58, 0x5D, 0x68, 0xCE, 0x47, 0x88, 0x2A, 0xE2, 0x56, 0xD6
#define K2 0xEF, 0x43, 0x59, 0xD8, 0xD5, 0x80, 0xAA, 0x4F, 0x7F, 0x03, 0x6D, 0x6F, 0x04, 0xFC, 0x6A, 0x94
#define K3 K2, 0x2B, 0x7E, 0x15, 0x16, 0x28, 0xAE, 0xD2, 0xA6, 0xAB, 0xF7, 0x15, 0x88, 0x09, 0xCF, 0x4F, 0x3C
#define K4 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0xFE, 0xDC, 0xBA, 0x98, 0x76, 0x54, 0x32, 0x10
        { FPE_ALGO_AES, 128, { K1 }, { 0xCB, 0xD0, 0x92, 0x80, 0x97, 0x95, 0x64 }, 7, "0123456789",
          "3992520240", "0535455316", "8901801106" },
        { FPE_ALGO_AES, 128, { K2 }, { 0xD8, 0xE7, 0x92, 0x0A, 0xFA, 0x33, 0x0A }, 7, "0123456789",
          "890121234567890000", "814997673314616621", "477064185124354662" },
        { FPE_ALGO_AES, 128, { K2 }, { 0x9A, 0x76, 0x8A, 0x92, 0xF6, 0x0E, 0x12, 0xD8 }, 8,
          "0123456789abcdefghijklmnop", "0123456789abcdefghi", "ao0d2gc1ca3i0121p58", "okhn4902kga4i2jm6op" },
        { FPE_ALGO_AES, 256, { K3 }, { 0xD8, 0xE7, 0x92, 0x0A, 0xFA, 0x33, 0x0A }, 7, "0123456789",
          "890121234567890000", "375943975111567310", "739867966748611431" },
        { FPE_ALGO_SM4, 128, { K4 }, { 0x39, 0x38, 0x37, 0x36, 0x35, 0x34, 0x33 }, 7, "0123456789",
          "1234567890", "0574989661", "9716189939" },
        { FPE_ALGO_AES, 128, { K2 }, { 0 }, 7, "0123456789", "89012123456789000000789000000",
          "34695224821734535122613701434", "34695224821734535122613701434" },
    };
    char out[64];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned radix = (unsigned)strlen(rows[i].alphabet);
        FPE_CTX *standard = context(FPE_MODE_FF3_1, rows[i].algo, rows[i].key, rows[i].bits, radix);
        FPE_CTX *fpec = context(FPE_MODE_FF3_1_FPEC, rows[i].algo, rows[i].key, rows[i].bits, radix);
        /* The standard knows no eighth byte. */
        CHECK(FPE_encrypt_str(standard, rows[i].alphabet, rows[i].plain, out, rows[i].tweak, 7) == 0);
        CHECK(strcmp(out, rows[i].standard) == 0);
        CHECK(FPE_decrypt_str(standard, rows[i].alphabet, out, out, rows[i].tweak, 7) == 0);
        CHECK(strcmp(out, rows[i].plain) == 0);
        CHECK(FPE_decrypt_str(fpec, rows[i].alphabet, rows[i].fpec, out, rows[i].tweak, rows[i].tweak_len) == 0);
        CHECK(strcmp(out, rows[i].plain) == 0);
        /* Nobody writes it by accident. */
        REFUSED(FPE_encrypt_str(fpec, rows[i].alphabet, rows[i].plain, out, rows[i].tweak, 7),
                FPE_ERR_ENCRYPT_REFUSED);
        FPE_CTX_free(fpec);
        fpec = FPE_CTX_new();
        CHECK(FPE_CTX_set_policy(fpec, FPE_POLICY_2016 | FPE_POLICY_WRITE_FPEC) == 0);
        CHECK(FPE_CTX_init(fpec, FPE_MODE_FF3_1_FPEC, rows[i].algo, rows[i].key, rows[i].bits, radix) == 0);
        CHECK(FPE_encrypt_str(fpec, rows[i].alphabet, rows[i].plain, out, rows[i].tweak, 7) == 0);
        CHECK(strcmp(out, rows[i].fpec) == 0);
        FPE_CTX_free(standard);
        FPE_CTX_free(fpec);
    }
}

/* One value in memory that ends where it ends, there and back. */
static void there_and_back(FPE_CTX *ctx, unsigned radix, unsigned len, unsigned tweak_len)
{
    unsigned *plain = exactly(len * sizeof *plain), *out = exactly(len * sizeof *out);
    unsigned char *tweak = exactly(tweak_len);
    fill(plain, len, radix);
    memset(tweak, 0x5A, tweak_len);
    CHECK(FPE_encrypt(ctx, plain, out, len, tweak, tweak_len) == 0);
    int inside = 1;
    for (unsigned i = 0; i < len; i++)
        inside &= out[i] < radix;
    CHECK(inside);
    CHECK(FPE_decrypt(ctx, out, out, len, tweak, tweak_len) == 0);
    CHECK(memcmp(out, plain, len * sizeof *out) == 0);
    free(plain);
    free(out);
    free(tweak);
}

/* D2: tweaks and values that did not fit a buffer on the stack. The values of some are in golden.c. */
static void d2_long_tweaks_and_values(void)
{
    static const unsigned radices[2] = { 10, 65536 };
    unsigned stride = check_stride();
    for (int r = 0; r < 2; r++) {
        FPE_CTX *ctx = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, radices[r]);
        for (unsigned t = 0; t <= 1024; t += stride) {
            there_and_back(ctx, radices[r], 16, t);
            there_and_back(ctx, radices[r], 2 + t % 299, t);
        }
        /* All pairs where somebody asks for them, else the lengths at which blocks and buffers end. */
        int every = getenv("FPE_TEST_EVERY_PAIR") != NULL && radices[r] == 65536;
        for (unsigned n = 2; n <= 300; n += stride)
            for (unsigned t = 0; t <= 1024; t += every || t < 20 ? 1 : t >= 236 && t < 268 ? 3 : 61)
                if ((n + t) % stride == 0)
                    there_and_back(ctx, radices[r], n, t);
        FPE_CTX_free(ctx);
    }
}

/* The most digits of a half, by integers: radix^h <= 2^96. */
static unsigned longest_of_family(unsigned radix)
{
    unsigned __int128 power = 1, bound = (unsigned __int128)1 << 96;
    unsigned half = 0;
    while (power * radix <= bound) {
        power *= radix;
        half++;
    }
    return 2 * half;
}

/* D3: the FF3 family beyond its longest value, where fpe-c left digits in clear. */
static void d3_the_longest_values_of_ff3(void)
{
    static const FPE_MODE modes[2] = { FPE_MODE_FF3, FPE_MODE_FF3_1 };
    unsigned value[512], before[512];
    for (int m = 0; m < 2; m++) {
        for (size_t i = 0; i < sizeof RADICES / sizeof RADICES[0]; i++) {
            unsigned radix = RADICES[i], longest = longest_of_family(radix), t = tweak_length(modes[m]);
            FPE_LIMITS limits;
            FPE_CTX *ctx = context(modes[m], FPE_ALGO_AES, KEY, 256, radix);
            CHECK(FPE_limits(modes[m], radix, FPE_POLICY_2016, &limits) == 0);
            CHECK(limits.max_len == longest && limits.max_encrypt_len == longest);
            there_and_back(ctx, radix, longest, t);
            fill(value, 512, radix);
            memcpy(before, value, sizeof value);
            for (unsigned more = 1; more <= 300; more += more < 5 ? 1 : 59) {
                REFUSED(FPE_encrypt(ctx, value, value, longest + more, TWEAK, t), FPE_ERR_LENGTH);
                REFUSED(FPE_decrypt(ctx, value, value, longest + more, TWEAK, t), FPE_ERR_LENGTH);
            }
            CHECK(memcmp(before, value, sizeof value) == 0);
            FPE_CTX_free(ctx);
        }
    }
    /* What fpe-c wrote beyond it is read, and said to be what it is. */
    FPE_CTX *fpec = context(FPE_MODE_FF3_1_FPEC, FPE_ALGO_AES, KEY, 128, 10);
    CHECK(FPE_CTX_is_partly_in_clear(fpec, 56) == 0 && FPE_CTX_is_partly_in_clear(fpec, 57) == 1);
    fill(value, 256, 10);
    CHECK(FPE_decrypt(fpec, value, value, 256, TWEAK, 7) == 0);
    REFUSED(FPE_decrypt(fpec, value, value, 257, TWEAK, 7), FPE_ERR_LENGTH);
    FPE_CTX_free(fpec);
}

static unsigned shortest(unsigned radix, unsigned floor)
{
    unsigned long long domain = radix;
    unsigned digits = 1;
    while (domain < floor || digits < 2) {
        domain *= radix;
        digits++;
    }
    return digits;
}

/* D4: no least domain. */
static void d4_domains_below_the_floor(void)
{
    static const FPE_MODE modes[3] = { FPE_MODE_FF1, FPE_MODE_FF3, FPE_MODE_FF3_1 };
    unsigned value[32];
    for (int strict = 0; strict < 2; strict++) {
        /* A strict policy with FF3 let through, so that its floor can be seen as well. */
        CHECK(FPE_set_policy(strict ? FPE_POLICY_LEGACY_ENCRYPT : FPE_POLICY_2016) == 0);
        for (int m = 0; m < 3; m++) {
            for (size_t i = 0; i < sizeof RADICES / sizeof RADICES[0]; i++) {
                unsigned radix = RADICES[i], least = shortest(radix, strict ? 1000000 : 100);
                FPE_CTX *ctx = context(modes[m], FPE_ALGO_AES, KEY, 128, radix);
                there_and_back(ctx, radix, least, tweak_length(modes[m]));
                fill(value, 32, radix);
                for (unsigned len = 0; len < least; len++) {
                    REFUSED(FPE_encrypt(ctx, value, value, len, TWEAK, tweak_length(modes[m])), FPE_ERR_DOMAIN);
                    REFUSED(FPE_decrypt(ctx, value, value, len, TWEAK, tweak_length(modes[m])), FPE_ERR_DOMAIN);
                }
                FPE_CTX_free(ctx);
            }
        }
    }
    CHECK(FPE_set_policy(FPE_POLICY_2016) == 0);
}

/* D5: digits that are none. */
static void d5_digits_beyond_the_radix(void)
{
    static const unsigned radices[5] = { 2, 10, 255, 256, 65536 };
    static const FPE_MODE modes[3] = { FPE_MODE_FF1, FPE_MODE_FF3, FPE_MODE_FF3_1 };
    for (int m = 0; m < 3; m++) {
        for (int r = 0; r < 5; r++) {
            unsigned radix = radices[r], len = m == 0 ? 30 : 12, in[30], out[30], before[30];
            unsigned bad[3] = { radix, radix + 1, UINT_MAX };
            FPE_CTX *ctx = context(modes[m], FPE_ALGO_SM4, KEY, 128, radix);
            memset(before, 0xA5, sizeof before);
            for (unsigned at = 0; at < len; at++) {
                for (int b = 0; b < 3; b++) {
                    unsigned t = tweak_length(modes[m]);
                    fill(in, len, radix);
                    in[at] = bad[b];
                    memcpy(out, before, sizeof out);
                    REFUSED(FPE_encrypt(ctx, in, out, len, TWEAK, t), FPE_ERR_DIGIT);
                    REFUSED(FPE_decrypt(ctx, in, out, len, TWEAK, t), FPE_ERR_DIGIT);
                    CHECK(memcmp(out, before, sizeof out) == 0);
                    REFUSED(FPE_encrypt(ctx, in, in, len, TWEAK, t), FPE_ERR_DIGIT);
                    CHECK(in[at] == bad[b]);
                }
            }
            FPE_CTX_free(ctx);
        }
    }
}

/* D6: NULL wherever a pointer is taken, with and without a length. */
static void d6_null_everywhere(void)
{
    unsigned digits[16] = { 0 };
    char text[17] = "0000000000000000";
    const char *alphabet = "0123456789";
    FPE_CTX *ctx = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10);
    for (unsigned mask = 0; mask < 16; mask++) {
        FPE_CTX *c = mask & 1 ? NULL : ctx;
        unsigned *in = mask & 2 ? NULL : digits, *out = mask & 4 ? NULL : digits;
        const unsigned char *tweak = mask & 8 ? NULL : TWEAK;
        for (unsigned len = 0; len <= 16; len += 16) {
            for (unsigned t = 0; t <= 7; t += 7) {
                int right = (mask & 7) == 0 && len == 16 && (tweak != NULL || t == 0);
                CHECK(FPE_encrypt(c, in, out, len, tweak, t) == (right ? 0 : -1));
                CHECK(FPE_decrypt(c, in, out, len, tweak, t) == (right ? 0 : -1));
                CHECK(FPE_encrypt_ex(c, in, len, out, len, tweak, t) == (right ? 0 : -1));
                CHECK(FPE_decrypt_ex(c, in, len, out, len, tweak, t) == (right ? 0 : -1));
                CHECK(FPE_encrypt_oneshot(FPE_MODE_FF1, FPE_ALGO_AES, mask & 1 ? NULL : KEY, 128, 10, in, out, len,
                                          tweak, t) == (right ? 0 : -1));
                CHECK(FPE_decrypt_oneshot(FPE_MODE_FF1, FPE_ALGO_AES, mask & 1 ? NULL : KEY, 128, 10, in, out, len,
                                          tweak, t) == (right ? 0 : -1));
            }
        }
    }
    for (unsigned mask = 0; mask < 32; mask++) {
        FPE_CTX *c = mask & 1 ? NULL : ctx;
        const unsigned char *key = mask & 1 ? NULL : KEY, *tweak = mask & 16 ? NULL : TWEAK;
        const char *symbols = mask & 2 ? NULL : alphabet;
        char *in = mask & 4 ? NULL : text, *out = mask & 8 ? NULL : text;
        for (unsigned t = 0; t <= 7; t += 7) {
            int right = (mask & 15) == 0 && (tweak != NULL || t == 0);
            int expected = right ? 0 : -1;
            CHECK(FPE_encrypt_str(c, symbols, in, out, tweak, t) == expected);
            CHECK(FPE_decrypt_str(c, symbols, in, out, tweak, t) == expected);
            CHECK(FPE_encrypt_str_ex(c, symbols, in, 16, out, 17, NULL, tweak, t) == expected);
            CHECK(FPE_decrypt_str_ex(c, symbols, in, 16, out, 17, NULL, tweak, t) == expected);
            CHECK(FPE_encrypt_str_oneshot(FPE_MODE_FF1, FPE_ALGO_AES, key, 128, symbols, in, out, tweak, t) == expected);
            CHECK(FPE_decrypt_str_oneshot(FPE_MODE_FF1, FPE_ALGO_AES, key, 128, symbols, in, out, tweak, t) == expected);
        }
    }
    CHECK(strcmp(text, "0000000000000000") == 0);
    FPE_BATCH batch = { .size = sizeof batch, .records = 1, .len = 16, .width = 4 };
    for (unsigned mask = 1; mask < 16; mask++) {
        const FPE_BATCH *b = mask & 1 ? NULL : &batch;
        FPE_CTX *c = mask & 2 ? NULL : ctx;
        CHECK(FPE_encrypt_batch(c, b, mask & 4 ? NULL : digits, mask & 8 ? NULL : digits) == -1);
        CHECK(FPE_decrypt_batch(c, b, mask & 4 ? NULL : digits, mask & 8 ? NULL : digits) == -1);
    }
    batch.tweak_len = 7;
    REFUSED(FPE_encrypt_batch(ctx, &batch, digits, digits), FPE_ERR_NULL);
    REFUSED(FPE_CTX_init(NULL, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10), FPE_ERR_NULL);
    REFUSED(FPE_CTX_init_ex(NULL, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 16, 10, NULL), FPE_ERR_NULL);
    REFUSED(FPE_CTX_set_policy(NULL, 0), FPE_ERR_NULL);
    REFUSED(FPE_CTX_is_partly_in_clear(NULL, 9), FPE_ERR_NULL);
    CHECK(FPE_CTX_backend(NULL) == NULL && FPE_last_error() == FPE_ERR_NULL);
    REFUSED(FPE_limits(FPE_MODE_FF1, 10, 0, NULL), FPE_ERR_NULL);
    REFUSED(FPE_CTX_init(ctx, FPE_MODE_FF1, FPE_ALGO_AES, NULL, 128, 10), FPE_ERR_NULL);
    FPE_CTX_free(ctx);
    FPE_CTX_free(NULL);
}

/* D7: initialising twice, in vain, or not at all. The sanitiser sees what is not freed. */
static void d7_initialising(void)
{
    unsigned digits[16] = { 1 }, before[16] = { 1 };
    char out[17];
    FPE_CTX *ctx = FPE_CTX_new();
    CHECK(ctx != NULL);
    REFUSED(FPE_encrypt(ctx, digits, digits, 16, TWEAK, 7), FPE_ERR_NOT_INITIALISED);
    REFUSED(FPE_decrypt_str(ctx, "0123456789", "4111111111111111", out, TWEAK, 7), FPE_ERR_NOT_INITIALISED);
    CHECK(FPE_CTX_backend(ctx) == NULL);
    for (int i = 0; i < 3; i++)
        CHECK(FPE_CTX_init(ctx, FPE_MODE_FF1, i == 1 ? FPE_ALGO_SM4 : FPE_ALGO_AES, KEY, 128, 10) == 0);
    CHECK(FPE_encrypt_str(ctx, "0123456789", "4111111111111111", out, (const unsigned char *)"9876543", 7) == 0);
    CHECK(strcmp(out, "0049466176981546") == 0);

    static const struct { int mode, algo; unsigned bits, radix; int error; } wrong[] = {
        { 99, 0, 128, 10, FPE_ERR_MODE },       { -1, 0, 128, 10, FPE_ERR_MODE },
        { 3, 0, 128, 10, FPE_ERR_MODE },        { 0x100, 0, 128, 10, FPE_ERR_MODE },
        { 0, 2, 128, 10, FPE_ERR_ALGORITHM },   { 0, -1, 128, 10, FPE_ERR_ALGORITHM },
        { 0, 0, 0, 10, FPE_ERR_KEY_SIZE },      { 0, 0, 16, 10, FPE_ERR_KEY_SIZE },
        { 0, 0, 127, 10, FPE_ERR_KEY_SIZE },    { 0, 0, 129, 10, FPE_ERR_KEY_SIZE },
        { 0, 0, 512, 10, FPE_ERR_KEY_SIZE },    { 0, 0, UINT_MAX, 10, FPE_ERR_KEY_SIZE },
        { 0, 1, 192, 10, FPE_ERR_KEY_SIZE },    { 0, 1, 256, 10, FPE_ERR_KEY_SIZE },
        { 1, 0, 64, 10, FPE_ERR_KEY_SIZE },     { 2, 1, 256, 10, FPE_ERR_KEY_SIZE },
        { 0, 0, 128, 0, FPE_ERR_RADIX },        { 0, 0, 128, 1, FPE_ERR_RADIX },
        { 0, 0, 128, 65537, FPE_ERR_RADIX },    { 2, 0, 128, UINT_MAX, FPE_ERR_RADIX },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        /* A context that had a key has none after an attempt that failed. */
        CHECK(FPE_CTX_init(ctx, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 256, 10) == 0);
        REFUSED(FPE_CTX_init(ctx, (FPE_MODE)wrong[i].mode, (FPE_ALGO)wrong[i].algo, KEY, wrong[i].bits,
                             wrong[i].radix), wrong[i].error);
        REFUSED(FPE_encrypt(ctx, digits, digits, 16, TWEAK, 7), FPE_ERR_NOT_INITIALISED);
        CHECK(FPE_encrypt_oneshot((FPE_MODE)wrong[i].mode, (FPE_ALGO)wrong[i].algo, KEY, wrong[i].bits,
                                  wrong[i].radix, digits, digits, 16, TWEAK, 7) == -1);
    }
    CHECK(memcmp(digits, before, sizeof digits) == 0);
    FPE_CTX_free(ctx);
    FPE_CTX_free(FPE_CTX_new());
}

/* D9: alphabets, judged once and not confused with each other. */
static void d9_alphabets(void)
{
    static const char *const alphabets[] = { "0123456789", "9876543210", "abcdefghij", "0123456789", "\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89" };
    char in[17], out[17], value[17];
    FPE_CTX *ctx = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10);
    for (int round = 0; round < 3; round++) {
        for (size_t a = 0; a < sizeof alphabets / sizeof alphabets[0]; a++) {
            static const char plain[] = "4111111111111111", cipher[] = "0049466176981546";
            for (int i = 0; i < 16; i++) {
                in[i] = alphabets[a][plain[i] - '0'];
                value[i] = alphabets[a][cipher[i] - '0'];
            }
            in[16] = value[16] = 0;
            CHECK(FPE_encrypt_str(ctx, alphabets[a], in, out, (const unsigned char *)"9876543", 7) == 0);
            CHECK(strcmp(out, value) == 0);
            memcpy(out, "unchanged", 10);
            REFUSED(FPE_encrypt_str(ctx, "0123456788", plain, out, TWEAK, 7), FPE_ERR_ALPHABET_DUPLICATE);
            REFUSED(FPE_encrypt_str(ctx, "0", plain, out, TWEAK, 7), FPE_ERR_ALPHABET_SIZE);
            REFUSED(FPE_encrypt_str(ctx, "", plain, out, TWEAK, 7), FPE_ERR_ALPHABET_SIZE);
            REFUSED(FPE_encrypt_str(ctx, "0123456789a", plain, out, TWEAK, 7), FPE_ERR_ALPHABET_RADIX);
            REFUSED(FPE_encrypt_str(ctx, "012345678", plain, out, TWEAK, 7), FPE_ERR_ALPHABET_RADIX);
            REFUSED(FPE_encrypt_str(ctx, "0123456789", "41111111111111x1", out, TWEAK, 7), FPE_ERR_SYMBOL);
            REFUSED(FPE_encrypt_str(ctx, "0123456789", "41111111111111\xFF", out, TWEAK, 7), FPE_ERR_SYMBOL);
            CHECK(strcmp(out, "unchanged") == 0);
        }
    }
    FPE_CTX_free(ctx);
}

int main(void)
{
    d1_the_tweak_of_ff3_1();
    d2_long_tweaks_and_values();
    d3_the_longest_values_of_ff3();
    d4_domains_below_the_floor();
    d5_digits_beyond_the_radix();
    d6_null_everywhere();
    d7_initialising();
    d9_alphabets();
    return check_finish("defects");
}
