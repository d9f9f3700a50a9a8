/* Counts the process's heap allocations, for LD_PRELOAD. Replacing operator new in the package would miss what the C++
   runtime allocates for it: the package hides its symbols and may bring a runtime of its own; all of them call malloc.
 */

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

static atomic_long allocations;
static atomic_long releases;

long counted_allocations(void) { return atomic_load(&allocations); }
long counted_releases(void) { return atomic_load(&releases); }

static void* counted(void* block) {
  if (block) atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
  return block;
}

void* malloc(size_t size) { return counted(__libc_malloc(size)); }
void* calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }
void* memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }
void* aligned_alloc(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }
int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = counted(__libc_memalign(alignment, size));
  return *block ? 0 : ENOMEM;
}
void free(void* block) {
  if (block) atomic_fetch_add_explicit(&releases, 1, memory_order_relaxed);
  __libc_free(block);
}
void* realloc(void* block, size_t size) {
  if (block) atomic_fetch_add_explicit(&releases, 1, memory_order_relaxed);
  return counted(__libc_realloc(block, size));
}
