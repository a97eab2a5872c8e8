/*
 * Encrypts a card number digit by digit, and shows what an error looks like.
 *
 *     cc basic.c $(pkg-config --cflags --libs fpe) -o basic
 */
#include <fpe.h>
#include <stdio.h>

static void print(const char *label, const unsigned int *digits, unsigned int len)
{
    printf("%-12s", label);
    for (unsigned int i = 0; i < len; i++)
        printf("%u", digits[i]);
    putchar('\n');
}

int main(void)
{
    /* A key for the example only. Real ones come from a key store. */
    static const unsigned char key[16] = { 0x2B, 0x7E, 0x15, 0x16, 0x28, 0xAE, 0xD2, 0xA6,
                                           0xAB, 0xF7, 0x15, 0x88, 0x09, 0xCF, 0x4F, 0x3C };
    /* The tweak is not secret. It says where the value stands, so that equal values differ elsewhere. */
    static const unsigned char tweak[] = "customers.card";
    unsigned int value[16] = { 4, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };

    /* New programs are strict: a million values at least, and a tweak. */
    if (FPE_set_policy(FPE_POLICY_STRICT) != 0)
        return 1;
    FPE_CTX *ctx = FPE_CTX_new();
    if (ctx == NULL || FPE_CTX_init(ctx, FPE_MODE_FF1, FPE_ALGO_AES, key, 128, 10) != 0) {
        fprintf(stderr, "%s\n", FPE_last_error_text());
        FPE_CTX_free(ctx);
        return 1;
    }
    print("plaintext", value, 16);
    if (FPE_encrypt(ctx, value, value, 16, tweak, sizeof tweak - 1) != 0)
        return 1;
    print("ciphertext", value, 16);
    if (FPE_decrypt(ctx, value, value, 16, tweak, sizeof tweak - 1) != 0)
        return 1;
    print("decrypted", value, 16);

    /* Four digits have 10,000 values. Somebody who sees enough of them would recover some. */
    if (FPE_encrypt(ctx, value, value, 4, tweak, sizeof tweak - 1) != 0)
        printf("error %d: %s\n", FPE_last_error(), FPE_last_error_text());
    FPE_CTX_free(ctx);
    return 0;
}
