"""Compilers and other programs that tests run."""

import subprocess


def run(*command, **options):
    """Runs a command; where it fails, an AssertionError holds what it printed."""
    command = [str(word) for word in command]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done
