/*
 * From what fpe-c wrote as FF3-1 to FF1. Its FF3-1 puts the last bytes of the tweak in another order than
 * the standard, so that nothing else reads it; FPE_MODE_FF3_1_FPEC does. FF1 values of fpe-c need nothing.
 *
 *     cc migration.c $(pkg-config --cflags --libs fpe) -o migration
 */
#include <fpe.h>
#include <stdio.h>
#include <string.h>

static const char DIGITS[] = "0123456789";
static const unsigned char OLD_KEY[16] = { 0x2D, 0xE7, 0x9D, 0x23, 0x2D, 0xF5, 0x58, 0x5D,
                                           0x68, 0xCE, 0x47, 0x88, 0x2A, 0xE2, 0x56, 0xD6 };
static const unsigned char OLD_TWEAK[7] = { 0xCB, 0xD0, 0x92, 0x80, 0x97, 0x95, 0x64 };
static const unsigned char NEW_KEY[32] = { 9, 8, 7, 6, 5, 4, 3, 2, 1 };
static const unsigned char NEW_TWEAK[] = "accounts";

/* Reads an old value, writes it anew, and reads that again before it is believed. */
static int migrate(FPE_CTX *old, FPE_CTX *new, const char *value, char *out)
{
    char plain[257], again[257];
    size_t len = strlen(value);
    if (len > 256)
        return -1;
    if (FPE_CTX_is_partly_in_clear(old, len) == 1)
        fprintf(stderr, "a value of %zu digits was never encrypted as a whole: count it as disclosed\n", len);
    if (FPE_decrypt_str(old, DIGITS, value, plain, OLD_TWEAK, sizeof OLD_TWEAK) != 0 ||
        FPE_encrypt_str(new, DIGITS, plain, out, NEW_TWEAK, sizeof NEW_TWEAK - 1) != 0 ||
        FPE_decrypt_str(new, DIGITS, out, again, NEW_TWEAK, sizeof NEW_TWEAK - 1) != 0)
        return -1;
    return strcmp(plain, again) == 0 ? 0 : -1;
}

int main(void)
{
    /* The first was 3992520240, the second 1234567890 six times; fpe-c took lengths that FF3-1 has not. */
    static const char *const values[] = {
        "0535455316",
        "879861322884946074068125004471879862276244052068897762659018",
    };
    char out[257];
    int failed = 1;
    FPE_CTX *old = FPE_CTX_new(), *new = FPE_CTX_new();
    if (old == NULL || new == NULL)
        goto end;
    /* The new values under strict rules. Decryption is always allowed, so the old ones may be strict too. */
    if (FPE_CTX_set_policy(new, FPE_POLICY_STRICT) != 0 ||
        FPE_CTX_init(old, FPE_MODE_FF3_1_FPEC, FPE_ALGO_AES, OLD_KEY, 128, 10) != 0 ||
        FPE_CTX_init(new, FPE_MODE_FF1, FPE_ALGO_AES, NEW_KEY, 256, 10) != 0)
        goto end;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (migrate(old, new, values[i], out) != 0)
            goto end;
        printf("%s becomes %s\n", values[i], out);
    }
    failed = 0;
end:
    if (failed)
        fprintf(stderr, "%s\n", FPE_last_error_text());
    FPE_CTX_free(old);
    FPE_CTX_free(new);
    return failed;
}
