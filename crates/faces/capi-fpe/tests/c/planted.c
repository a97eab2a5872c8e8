/* A wrong expectation, to see that the checks see one. This program must fail. */
#include "check.h"

int main(void)
{
    char out[17];
    FPE_CTX *ctx = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10);
    CHECK(FPE_encrypt_str(ctx, "0123456789", "4111111111111111", out, (const unsigned char *)"9876543", 7) == 0);
    CHECK(strcmp(out, "0049466176981547") == 0);
    FPE_CTX_free(ctx);
    return check_finish("planted");
}
