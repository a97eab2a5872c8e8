/*
 * The interface of fpe-c as its users have it: names, argument order and enums, written down from its
 * description. dropin.c is compiled against this and against fpe.h, and linked with the same library.
 */
#ifndef INTERFACE_H
#define INTERFACE_H

#include <stddef.h>

typedef enum { FPE_ALGO_AES = 0, FPE_ALGO_SM4 = 1 } FPE_ALGO;
typedef enum { FPE_MODE_FF1 = 0, FPE_MODE_FF3 = 1, FPE_MODE_FF3_1 = 2 } FPE_MODE;
typedef struct fpe_ctx_st FPE_CTX;

typedef const unsigned char *FPE_BYTES;

FPE_CTX *FPE_CTX_new(void);
void FPE_CTX_free(FPE_CTX *);
int FPE_CTX_init(FPE_CTX *, FPE_MODE, FPE_ALGO, FPE_BYTES, unsigned, unsigned);
int FPE_encrypt(FPE_CTX *, const unsigned *, unsigned *, unsigned, FPE_BYTES, unsigned);
int FPE_decrypt(FPE_CTX *, const unsigned *, unsigned *, unsigned, FPE_BYTES, unsigned);
int FPE_encrypt_str(FPE_CTX *, const char *, const char *, char *, FPE_BYTES, unsigned);
int FPE_decrypt_str(FPE_CTX *, const char *, const char *, char *, FPE_BYTES, unsigned);
int FPE_encrypt_oneshot(FPE_MODE, FPE_ALGO, FPE_BYTES, unsigned, unsigned, const unsigned *, unsigned *,
                        unsigned, FPE_BYTES, unsigned);
int FPE_decrypt_oneshot(FPE_MODE, FPE_ALGO, FPE_BYTES, unsigned, unsigned, const unsigned *, unsigned *,
                        unsigned, FPE_BYTES, unsigned);
int FPE_encrypt_str_oneshot(FPE_MODE, FPE_ALGO, FPE_BYTES, unsigned, const char *, const char *, char *,
                            FPE_BYTES, unsigned);
int FPE_decrypt_str_oneshot(FPE_MODE, FPE_ALGO, FPE_BYTES, unsigned, const char *, const char *, char *,
                            FPE_BYTES, unsigned);

#endif
