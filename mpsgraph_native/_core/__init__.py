"""Owners of native objects, one module per topic. Private: the public names are those of `mpsgraph_native`."""
