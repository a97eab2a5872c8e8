/*
 * A program as it is written for fpe-c: only its 11 functions and its enums. Compiled twice, with its own
 * declarations and with fpe.h.
 */
#ifdef OWN_INTERFACE
#include "interface.h"
#else
#include <fpe.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(FPE_ALGO_AES == 0 && FPE_ALGO_SM4 == 1, "algorithms");
_Static_assert(FPE_MODE_FF1 == 0 && FPE_MODE_FF3 == 1 && FPE_MODE_FF3_1 == 2, "modes");

/* The types are the same to the letter, so that pointers to functions fit as well. */
typedef const unsigned char *Bytes;
static FPE_CTX *(*const new_)(void) = FPE_CTX_new;
static void (*const free_)(FPE_CTX *) = FPE_CTX_free;
static int (*const init)(FPE_CTX *, FPE_MODE, FPE_ALGO, Bytes, unsigned, unsigned) = FPE_CTX_init;
typedef int Numbers(FPE_CTX *, const unsigned *, unsigned *, unsigned, Bytes, unsigned);
typedef int Strings(FPE_CTX *, const char *, const char *, char *, Bytes, unsigned);
typedef int NumbersAtOnce(FPE_MODE, FPE_ALGO, Bytes, unsigned, unsigned, const unsigned *, unsigned *,
                          unsigned, Bytes, unsigned);
typedef int StringsAtOnce(FPE_MODE, FPE_ALGO, Bytes, unsigned, const char *, const char *, char *, Bytes,
                          unsigned);
static Numbers *const numbers[2] = { FPE_encrypt, FPE_decrypt };
static Strings *const strings[2] = { FPE_encrypt_str, FPE_decrypt_str };
static NumbersAtOnce *const numbers_at_once[2] = { FPE_encrypt_oneshot, FPE_decrypt_oneshot };
static StringsAtOnce *const strings_at_once[2] = { FPE_encrypt_str_oneshot, FPE_decrypt_str_oneshot };

static unsigned long made, failed;

static void check(int holds, const char *what)
{
    made++;
    if (!holds) {
        failed++;
        fprintf(stderr, "dropin: %s\n", what);
    }
}

static const unsigned char KEY[16] = { 0x2B, 0x7E, 0x15, 0x16, 0x28, 0xAE, 0xD2, 0xA6,
                                       0xAB, 0xF7, 0x15, 0x88, 0x09, 0xCF, 0x4F, 0x3C };
static const unsigned char TWEAK[] = "9876543";
static const char DIGITS[] = "0123456789";

static void published_value(void)
{
    static const char plain[] = "4111111111111111", cipher[] = "0049466176981546";
    unsigned in[16], out[16];
    char text[17];
    FPE_CTX *ctx = new_();
    check(ctx != NULL, "a context");
    check(init(ctx, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10) == 0, "initialised");
    for (int way = 0; way < 2; way++) {
        const char *from = way == 0 ? plain : cipher, *to = way == 0 ? cipher : plain;
        for (int i = 0; i < 16; i++)
            in[i] = (unsigned)(from[i] - '0');
        check(numbers[way](ctx, in, out, 16, TWEAK, 7) == 0, "numbers");
        for (int i = 0; i < 16; i++)
            check(out[i] == (unsigned)(to[i] - '0'), "a digit");
        memset(out, 0, sizeof out);
        check(numbers_at_once[way](FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10, in, out, 16, TWEAK, 7) == 0,
              "numbers at once");
        check(out[0] == (unsigned)(to[0] - '0') && out[15] == (unsigned)(to[15] - '0'), "the same digits");
        check(strings[way](ctx, DIGITS, from, text, TWEAK, 7) == 0 && strcmp(text, to) == 0, "a string");
        memset(text, 'x', sizeof text);
        check(strings_at_once[way](FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, DIGITS, from, text, TWEAK, 7) == 0
                  && strcmp(text, to) == 0, "a string at once");
        strcpy(text, from);
        check(strings[way](ctx, DIGITS, text, text, TWEAK, 7) == 0 && strcmp(text, to) == 0, "in place");
    }
    free_(ctx);
}

/* What the standard of 2016 allows needs no call that fpe-c does not have. */
static void everything_of_2016(void)
{
    static const unsigned char eight[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    static const unsigned tweaks[3] = { 0, 8, 7 };
    for (int mode = 0; mode < 3; mode++) {
        for (int algo = 0; algo < 2; algo++) {
            for (unsigned bits = 128; bits <= (algo == 0 ? 256u : 128u); bits += 64) {
                unsigned char key[32] = { 9, 8, 7, 6, 5 };
                unsigned value[2] = { 9, 4 };
                FPE_CTX *ctx = new_();
                check(init(ctx, (FPE_MODE)mode, (FPE_ALGO)algo, key, bits, 10) == 0, "every mode and key");
                check(numbers[0](ctx, value, value, 2, eight, tweaks[mode]) == 0, "a domain of 100");
                check(value[0] < 10 && value[1] < 10, "digits");
                check(numbers[1](ctx, value, value, 2, eight, tweaks[mode]) == 0, "and back");
                check(value[0] == 9 && value[1] == 4, "the value");
                free_(ctx);
            }
        }
    }
    unsigned value[6] = { 1, 2, 3, 4, 5, 6 };
    check(numbers_at_once[0](FPE_MODE_FF1, FPE_ALGO_SM4, KEY, 128, 10, value, value, 6, NULL, 0) == 0,
          "FF1 without a tweak");
}

/* Alphabets of single bytes, whatever bytes they are. */
static void byte_alphabet(void)
{
    char alphabet[256], in[65], out[65], back[65];
    for (int i = 0; i < 255; i++)
        alphabet[i] = (char)(i + 1);
    alphabet[255] = 0;
    for (int i = 0; i < 64; i++)
        in[i] = (char)(1 + (i * 37 + 11) % 255);
    in[64] = 0;
    check(strings_at_once[0](FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, alphabet, in, out, TWEAK, 7) == 0, "bytes");
    check(strlen(out) == 64 && strcmp(in, out) != 0, "as many bytes");
    check(strings_at_once[1](FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, alphabet, out, back, TWEAK, 7) == 0, "back");
    check(strcmp(in, back) == 0, "the bytes");
}

static void only_minus_one(void)
{
    unsigned value[4] = { 1, 2, 3, 10 };
    char text[8] = "12a4";
    check(numbers_at_once[0](FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10, value, value, 4, TWEAK, 7) == -1, "digit");
    check(strings_at_once[0](FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, DIGITS, text, text, TWEAK, 7) == -1, "symbol");
    check(strcmp(text, "12a4") == 0, "untouched");
    check(init(NULL, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10) == -1, "no context");
    free_(NULL);
}

int main(void)
{
    published_value();
    everything_of_2016();
    byte_alphabet();
    only_minus_one();
    printf("dropin: %lu checks, %lu failed\n", made, failed);
    return failed != 0;
}
