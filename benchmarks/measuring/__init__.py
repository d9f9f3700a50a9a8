"""How rows are measured: processes with settled threads, interleaved rounds, the machine's own limits."""
