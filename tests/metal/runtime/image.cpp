// Linked once into every image that holds Objective-C code: registers its metadata sections.
#include <cstddef>

#define BOUNDS(section)                                                         \
  extern void* __start_##section[] __attribute__((weak, visibility("hidden"))); \
  extern void* __stop_##section[] __attribute__((weak, visibility("hidden")));

extern "C" {
BOUNDS(objc_classlist)
BOUNDS(objc_catlist)
BOUNDS(objc_selrefs)

void objcrt_register_image(void** classes, std::size_t class_count, void** categories, std::size_t category_count,
                           void** selectors, std::size_t selector_count);
}

#define COUNT(section) static_cast<std::size_t>(__stop_##section - __start_##section)

__attribute__((constructor(200))) static void register_image() {
  objcrt_register_image(__start_objc_classlist, COUNT(objc_classlist), __start_objc_catlist, COUNT(objc_catlist),
                        __start_objc_selrefs, COUNT(objc_selrefs));
}
