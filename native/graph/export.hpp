#pragma once

/// Marks what the extension modules call across the shared library's border; everything else stays hidden.
#define MPSGRAPH_API __attribute__((visibility("default")))
