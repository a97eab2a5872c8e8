/* FF3 over 1, 2, 4, 8 and 16 threads. */
#include "scaling.h"

int main(int count, char **arguments)
{
    return scaling(FPE_MODE_FF3, count, arguments);
}
