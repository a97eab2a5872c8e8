/*
 * fpe.h: format-preserving encryption. A value of n digits becomes another value of n digits.
 * SPDX-License-Identifier: Apache-2.0 OR MIT
 *
 * FF1 of NIST SP 800-38G (second draft of Revision 1), and FF3 and FF3-1, which that draft withdraws;
 * over AES with keys of 128, 192 and 256 bits and over SM4, for which no official text or vector exists.
 * Use FF1 for new data. FF3 and FF3-1 have been broken; they are here to read old data.
 * Not validated under FIPS 140.
 *
 * Who has programs for the library fpe-c compiles them anew: the first 11 functions below and the first
 * two enums are its interface. FF1 values are the same. FF3-1 is that of the standard here, and fpe-c's
 * is not; FPE_MODE_FF3_1_FPEC decrypts what it wrote, see examples/migration.c.
 *
 *
 * Results. Every function that returns int returns 0 if all went well and -1 if not, unless it says
 *   otherwise. After -1 no output has been written, not even in part. FPE_last_error tells the reason.
 *
 * Pointers. NULL, pointers that are not aligned, sizes beyond memory, and an output that overlaps
 *   something that is read are errors. Input and output may be the very same buffer. A tweak may be NULL
 *   if its length is 0; nothing else may. Nothing can check that memory is there: arrays must have the
 *   lengths that are given, strings must end with a zero.
 *
 * Digits are numbers from 0 to radix - 1, most significant first. A digit that is not below the radix is
 *   an error.
 *
 * Threads. A context that has been initialised is not changed by using it: any number of threads may
 *   encrypt and decrypt with one context at once. FPE_CTX_init, FPE_CTX_init_ex, FPE_CTX_set_policy and
 *   FPE_CTX_free change it: nobody else may use that context meanwhile.
 *   Errors are remembered for each thread.
 *
 * Time. Neither the course of the code nor the memory it touches depends on keys or digits, with
 *   alphabets of up to 256 symbols. Mode, radix, lengths, tweaks and alphabets are public. That a call
 *   was refused, and where the first bad digit stands, is public as well.
 *
 * Memory. Keys and what is computed from values are wiped, and the part of the stack that a call has used
 *   is cleared; not so the stacks of the threads that a batch starts, which are given back when they end.
 *   Where memory runs out while a context is made, NULL is returned; elsewhere (long values, alphabets
 *   beyond ASCII, batches with offsets or threads) the process ends, as Rust programs do.
 *
 * Environment. KEYWRIGHT_FPE_BACKEND, read once, chooses how the work is done: portable, aesni, vaes256,
 *   vaes512, sm4-aesni, sm4-gfni, arm-aes or arm-sm4. Unset, the fastest of the machine is taken. All give
 *   the same values.
 */
#ifndef KEYWRIGHT_FPE_H
#define KEYWRIGHT_FPE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FPE_VERSION_MAJOR 0
#define FPE_VERSION_MINOR 1
#define FPE_VERSION_PATCH 0
#define FPE_VERSION_STRING "0.1.0"

typedef enum {
    FPE_ALGO_AES = 0, /* keys of 128, 192 or 256 bits */
    FPE_ALGO_SM4 = 1  /* keys of 128 bits */
} FPE_ALGO;

typedef enum {
    FPE_MODE_FF1 = 0,   /* the mode for new data */
    FPE_MODE_FF3 = 1,   /* tweaks of 8 bytes; broken */
    FPE_MODE_FF3_1 = 2, /* tweaks of 7 bytes, as the standard has them; withdrawn */
    /*
     * What fpe-c writes as FF3-1: the last bytes of the tweak stand in another order. Takes the tweaks
     * that fpe-c takes (0, 7 or 8 bytes). It decrypts; it encrypts under FPE_POLICY_WRITE_FPEC only.
     */
    FPE_MODE_FF3_1_FPEC = 0x102
} FPE_MODE;

typedef struct fpe_ctx_st FPE_CTX;

/* ---- The 11 functions ------------------------------------------------------------------------------- */

/* A context without a key, or NULL if there is no memory. */
FPE_CTX *FPE_CTX_new(void);

/* Wipes and frees. NULL is allowed. */
void FPE_CTX_free(FPE_CTX *ctx);

/*
 * Gives the context a key of `bits` bits for one mode, algorithm and radix (2 to 65536). The key is
 * copied. A context may be initialised again: the old key is wiped first. If this fails, the context has
 * no key.
 */
int FPE_CTX_init(FPE_CTX *ctx, FPE_MODE mode, FPE_ALGO algo, const unsigned char *key, unsigned int bits,
                 unsigned int radix);

/*
 * `len` digits. FPE_limits tells which lengths and tweaks there are.
 */
int FPE_encrypt(FPE_CTX *ctx, const unsigned int *in, unsigned int *out, unsigned int len,
                const unsigned char *tweak, unsigned int tweak_len);
int FPE_decrypt(FPE_CTX *ctx, const unsigned int *in, unsigned int *out, unsigned int len,
                const unsigned char *tweak, unsigned int tweak_len);

/*
 * A string over an alphabet. Each byte of `alphabet` is a symbol, the first is digit 0; it has as many as
 * the radix, none twice. `out` has room for strlen(in) + 1 bytes. A thread that gives the same alphabet
 * again and again has it checked once.
 */
int FPE_encrypt_str(FPE_CTX *ctx, const char *alphabet, const char *in, char *out,
                    const unsigned char *tweak, unsigned int tweak_len);
int FPE_decrypt_str(FPE_CTX *ctx, const char *alphabet, const char *in, char *out,
                    const unsigned char *tweak, unsigned int tweak_len);

/* The same without a context: the key is prepared and wiped with every call. */
int FPE_encrypt_oneshot(FPE_MODE mode, FPE_ALGO algo, const unsigned char *key, unsigned int key_bits,
                        unsigned int radix, const unsigned int *in, unsigned int *out, unsigned int len,
                        const unsigned char *tweak, unsigned int tweak_len);
int FPE_decrypt_oneshot(FPE_MODE mode, FPE_ALGO algo, const unsigned char *key, unsigned int key_bits,
                        unsigned int radix, const unsigned int *in, unsigned int *out, unsigned int len,
                        const unsigned char *tweak, unsigned int tweak_len);
int FPE_encrypt_str_oneshot(FPE_MODE mode, FPE_ALGO algo, const unsigned char *key, unsigned int key_bits,
                            const char *alphabet, const char *in, char *out,
                            const unsigned char *tweak, unsigned int tweak_len);
int FPE_decrypt_str_oneshot(FPE_MODE mode, FPE_ALGO algo, const unsigned char *key, unsigned int key_bits,
                            const char *alphabet, const char *in, char *out,
                            const unsigned char *tweak, unsigned int tweak_len);

/* ---- What is accepted --------------------------------------------------------------------------------- */

/* The draft of 2025 to the letter: 1,000,000 values at least, and a tweak; the FF3 family decrypts only. */
#define FPE_POLICY_STRICT 0x00u
/* Radix and length with 100 values and more. Such values can be recovered by who sees enough of them. */
#define FPE_POLICY_SMALL_DOMAIN 0x01u
/* FF1 without a tweak. */
#define FPE_POLICY_EMPTY_TWEAK 0x02u
/* FF3 and FF3-1 encrypt. */
#define FPE_POLICY_LEGACY_ENCRYPT 0x04u
/* What the standard of 2016 allows. A program starts with this. */
#define FPE_POLICY_2016 0x07u
/*
 * The tweaks that fpe-c takes: 7 bytes for FF3 as if a zero followed, 8 for FF3-1 as if the last were not
 * there, none for both as if all were zero.
 */
#define FPE_POLICY_LOOSE_TWEAKS 0x08u
/* FPE_MODE_FF3_1_FPEC encrypts, to find old values by their ciphertext. Nobody but fpe-c can read it. */
#define FPE_POLICY_WRITE_FPEC 0x10u
/* FF1 tweaks of more than 65,535 bytes. */
#define FPE_POLICY_LONG_TWEAKS 0x20u

/*
 * The policy of contexts that will be initialised from now on, and of calls without a context. One call
 * of FPE_set_policy(FPE_POLICY_STRICT) at the start makes a program strict.
 */
int FPE_set_policy(unsigned int policy);
unsigned int FPE_get_policy(void);

/* The policy of one context, before it is initialised; it keeps it when it is initialised again. */
int FPE_CTX_set_policy(FPE_CTX *ctx, unsigned int policy);

typedef struct {
    size_t min_len;         /* the fewest digits */
    size_t max_len;         /* the most digits that are decrypted */
    size_t max_encrypt_len; /* the most digits that are encrypted; 0 if the policy forbids it */
    size_t min_tweak_len;   /* in bytes */
    size_t max_tweak_len;   /* with loose tweaks of the FF3 family 0, 7 and 8, none between */
} FPE_LIMITS;

/* The limits of a mode with a radix under a policy. */
int FPE_limits(FPE_MODE mode, unsigned int radix, unsigned int policy, FPE_LIMITS *limits);

/* ---- Errors -------------------------------------------------------------------------------------------- */

typedef enum {
    FPE_OK = 0,
    FPE_ERR_NULL = 1,
    FPE_ERR_OVERLAP = 2,
    FPE_ERR_ALIGNMENT = 3,
    FPE_ERR_SIZE = 4,
    FPE_ERR_NOT_INITIALISED = 5,
    FPE_ERR_INITIALISED = 6, /* FPE_CTX_set_policy comes too late */
    FPE_ERR_MODE = 10,
    FPE_ERR_ALGORITHM = 11,
    FPE_ERR_POLICY_FLAGS = 12,
    FPE_ERR_BACKEND = 13,
    FPE_ERR_KEY_SIZE = 14,
    FPE_ERR_RADIX = 15,
    FPE_ERR_DOMAIN = 20, /* too few values of this radix and length */
    FPE_ERR_LENGTH = 21, /* too many digits */
    FPE_ERR_TWEAK_EMPTY = 22,
    FPE_ERR_TWEAK_LENGTH = 23,
    FPE_ERR_ENCRYPT_REFUSED = 24, /* the policy lets this mode decrypt only */
    FPE_ERR_DIGIT = 30,
    FPE_ERR_SYMBOL = 31,
    FPE_ERR_ENCODING = 32, /* not UTF-8 */
    FPE_ERR_ALPHABET_SIZE = 40,
    FPE_ERR_ALPHABET_DUPLICATE = 41,
    FPE_ERR_ALPHABET_RADIX = 42,
    FPE_ERR_ALPHABET_NOT_ASCII = 43,
    FPE_ERR_CAPACITY = 50,
    FPE_ERR_BATCH = 51,
    FPE_ERR_WIDTH = 52,
    FPE_ERR_MEMORY = 60,
    FPE_ERR_INTERNAL = 61,
    FPE_ERR_OTHER = 62
} FPE_ERROR;

/*
 * The number of the last error of this thread, FPE_OK if there was none. Calls that succeed leave it as it
 * is, so it means something after -1 or NULL only.
 */
int FPE_last_error(void);

/*
 * The last error of this thread in words: which limit, which position. Never a digit, a tweak or a key.
 * The text stands until this thread asks again.
 */
const char *FPE_last_error_text(void);

/* The record of a batch that the last error of this thread is about, from 0; (size_t)-1 if not just one. */
size_t FPE_last_error_record(void);

/* What the number of an error means. Never NULL. */
const char *FPE_strerror(int error);

/* ---- With sizes ---------------------------------------------------------------------------------------- */

/*
 * As FPE_CTX_init, with the key in bytes. `backend` is a word as KEYWRIGHT_FPE_BACKEND has it and comes
 * before that; NULL leaves the choice.
 */
int FPE_CTX_init_ex(FPE_CTX *ctx, FPE_MODE mode, FPE_ALGO algo, const unsigned char *key, size_t key_len,
                    unsigned int radix, const char *backend);

/* The word for the backend of an initialised context; NULL with an error if it has no key. */
const char *FPE_CTX_backend(const FPE_CTX *ctx);

/* `out` has room for `out_capacity` digits, `len` or more. */
int FPE_encrypt_ex(const FPE_CTX *ctx, const unsigned int *in, size_t len, unsigned int *out,
                   size_t out_capacity, const unsigned char *tweak, size_t tweak_len);
int FPE_decrypt_ex(const FPE_CTX *ctx, const unsigned int *in, size_t len, unsigned int *out,
                   size_t out_capacity, const unsigned char *tweak, size_t tweak_len);

/*
 * Text in UTF-8 over an alphabet in UTF-8, which ends with a zero: each code point is a symbol. The text
 * has `in_len` bytes. `out` gets the result and a zero; its bytes without the zero are put into `out_len`
 * unless that is NULL. Symbols of one byte need in_len + 1 bytes; four bytes a symbol and one always do.
 */
int FPE_encrypt_str_ex(const FPE_CTX *ctx, const char *alphabet, const char *in, size_t in_len, char *out,
                       size_t out_capacity, size_t *out_len, const unsigned char *tweak, size_t tweak_len);
int FPE_decrypt_str_ex(const FPE_CTX *ctx, const char *alphabet, const char *in, size_t in_len, char *out,
                       size_t out_capacity, size_t *out_len, const unsigned char *tweak, size_t tweak_len);

/*
 * Whether a value of `len` digits, written by fpe-c as FF3-1, holds digits that were never encrypted:
 * 1 or 0; -1 with an error if the context has no key. Only FPE_MODE_FF3_1_FPEC takes such lengths, and
 * it decrypts them only.
 */
int FPE_CTX_is_partly_in_clear(const FPE_CTX *ctx, size_t len);

/* ---- Many values --------------------------------------------------------------------------------------- */

/*
 * What a batch is. Fields that are not named are zero:
 *
 *     FPE_BATCH batch = { .size = sizeof batch, .records = 1000, .len = 16, .alphabet = "0123456789",
 *                         .tweak = tweak, .tweak_len = 7 };
 */
typedef struct {
    size_t size;    /* sizeof(FPE_BATCH) */
    size_t records; /* how many values */
    size_t len;     /* digits of each value; they stand one after the other */
    /*
     * Or records + 1 places, counted in digits: value i stands from offsets[i] to before offsets[i + 1].
     * The first is 0. `len` says nothing then.
     */
    const size_t *offsets;
    const char *alphabet; /* ASCII: values are text without zeros, a byte a symbol. NULL: they are digits */
    const unsigned char *tweak;
    size_t tweak_len; /* the tweak of all values */
    /* Or records + 1 places: tweak i stands from tweak_offsets[i] to before tweak_offsets[i + 1]. */
    const size_t *tweak_offsets;
    unsigned int tweak_each; /* 1: each value has a tweak of tweak_len bytes, one after the other. Else 0 */
    unsigned int width;      /* bytes of a digit: 1 (or 0), 2 or 4 */
    unsigned int threads;    /* threads that may work; 0 and 1 are the caller's own */
} FPE_BATCH;

/* All values or none: if one is bad, FPE_last_error_record tells which, and nothing is written. */
int FPE_encrypt_batch(const FPE_CTX *ctx, const FPE_BATCH *batch, const void *in, void *out);
int FPE_decrypt_batch(const FPE_CTX *ctx, const FPE_BATCH *batch, const void *in, void *out);

/* ---- Version ------------------------------------------------------------------------------------------- */

/* The version of the library; FPE_VERSION_STRING is that of the header. */
const char *FPE_version(void);

#ifdef __cplusplus
}
#endif

#endif
