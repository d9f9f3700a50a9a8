// What the cpu engine uses of Accelerate on a Mac: BLAS's matrix products.
#pragma once

#include <AvailabilityMacros.h>

enum CBLAS_ORDER { CblasRowMajor = 101, CblasColMajor = 102 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112, CblasConjTrans = 113 };

// The newer interface has other symbols, which came with macOS 13.3.
#ifdef ACCELERATE_NEW_LAPACK
#define BLAS(name) __asm("_" #name "$NEWLAPACK") __attribute__((availability(macos, introduced = 13.3)))
#else
#define BLAS(name) __attribute__((availability(macos, introduced = 10.2, deprecated = 13.3)))
#endif

extern "C" {
void cblas_sgemm(CBLAS_ORDER order, CBLAS_TRANSPOSE trans_a, CBLAS_TRANSPOSE trans_b, int m, int n, int k, float alpha,
                 const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) BLAS(cblas_sgemm);
void cblas_dgemm(CBLAS_ORDER order, CBLAS_TRANSPOSE trans_a, CBLAS_TRANSPOSE trans_b, int m, int n, int k, double alpha,
                 const double* a, int lda, const double* b, int ldb, double beta, double* c, int ldc) BLAS(cblas_dgemm);
}

#undef BLAS
