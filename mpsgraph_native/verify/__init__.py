"""Every operation on every engine against float64, as `mpsgraph-native verify` reports it."""
