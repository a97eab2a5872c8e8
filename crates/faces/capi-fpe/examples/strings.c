/*
 * Text over alphabets: bytes, and characters of UTF-8.
 *
 *     cc strings.c $(pkg-config --cflags --libs fpe) -o strings
 */
#include <fpe.h>
#include <stdio.h>
#include <string.h>

static const unsigned char KEY[32] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
static const unsigned char TWEAK[] = "licence plates";

/* Each byte of the alphabet is a symbol; the radix is their number. */
static int bytes(void)
{
    static const char alphabet[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char token[16], back[16];
    FPE_CTX *ctx = FPE_CTX_new();
    int done = ctx != NULL && FPE_CTX_init(ctx, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 256, 36) == 0 &&
               FPE_encrypt_str(ctx, alphabet, "KW2026XYZ", token, TWEAK, sizeof TWEAK - 1) == 0 &&
               FPE_decrypt_str(ctx, alphabet, token, back, TWEAK, sizeof TWEAK - 1) == 0;
    if (done)
        printf("KW2026XYZ becomes %s and %s again\n", token, back);
    FPE_CTX_free(ctx);
    return done;
}

/* Characters have several bytes, so the result may be longer or shorter; four a symbol always suffice. */
static int characters(void)
{
    static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz\xC3\xA4\xC3\xB6\xC3\xBC\xC3\x9F";
    static const char name[] = "m\xC3\xBC" "ller";
    char token[4 * sizeof name], back[4 * sizeof name];
    size_t len;
    FPE_CTX *ctx = FPE_CTX_new();
    int done = ctx != NULL && FPE_CTX_init(ctx, FPE_MODE_FF1, FPE_ALGO_AES, KEY, 256, 30) == 0 &&
               FPE_encrypt_str_ex(ctx, alphabet, name, strlen(name), token, sizeof token, &len, TWEAK,
                                  sizeof TWEAK - 1) == 0 &&
               FPE_decrypt_str_ex(ctx, alphabet, token, len, back, sizeof back, NULL, TWEAK,
                                  sizeof TWEAK - 1) == 0;
    if (done)
        printf("%s becomes %s and %s again\n", name, token, back);
    FPE_CTX_free(ctx);
    return done && strcmp(name, back) == 0;
}

int main(void)
{
    if (bytes() && characters())
        return 0;
    fprintf(stderr, "%s\n", FPE_last_error_text());
    return 1;
}
