// Linked once into every image (executable or .so) that holds Objective-C code: registers its metadata sections.
#include <stddef.h>
#define SECT(n)                                                          \
  extern char __start_##n[] __attribute__((weak, visibility("hidden"))), \
      __stop_##n[] __attribute__((weak, visibility("hidden")));
SECT(objc_classlist)
SECT(objc_catlist) SECT(objc_selrefs)
    SECT(objc_protolist) void objcrt_register_image(void** classes, size_t nclasses, void** cats, size_t ncats,
                                                    void** selrefs, size_t nselrefs, void** protos, size_t nprotos);
#define N(n) (size_t)(__stop_##n - __start_##n) / sizeof(void*)
#define P(n) (void**)(void*)__start_##n
__attribute__((constructor(200))) static void objcrt_image_init(void) {
  objcrt_register_image(P(objc_classlist), N(objc_classlist), P(objc_catlist), N(objc_catlist), P(objc_selrefs),
                        N(objc_selrefs), P(objc_protolist), N(objc_protolist));
}
