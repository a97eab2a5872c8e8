/* FF3 on one thread: rates by cipher and key size, length and radix, one value a call and in batches. */
#include "performance.h"

int main(int count, char **arguments)
{
    return performance(FPE_MODE_FF3, count, arguments);
}
