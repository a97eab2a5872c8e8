/* Claims one digit more than its memory has, to see that the tools that watch memory see it. */
#include "check.h"

int main(void)
{
    unsigned *value = exactly(16 * sizeof *value), out[17];
    memset(value, 0, 16 * sizeof *value);
    FPE_CTX *ctx = context(FPE_MODE_FF1, FPE_ALGO_AES, KEY, 128, 10);
    CHECK(FPE_encrypt(ctx, value, out, 17, KEY, 7) == 0);
    FPE_CTX_free(ctx);
    free(value);
    return check_finish("beyond");
}
