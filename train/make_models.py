"""Makes the laboratory models: `make lab-models` runs this with the settings that training wants.

usage: make_models.py FOLDER
Stopped at any point, it goes on from its last checkpoint when it is started again.
"""
import sys
import time

import torch

from lab.stages import run_stages

THREADS = 2  # fixed, because sums of floats depend on it


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.set_num_threads(THREADS)
    started = time.monotonic()

    def report(line):
        print(f"[{time.monotonic() - started:6.0f} s] {line}", flush=True)

    run_stages(sys.argv[1], report)


if __name__ == "__main__":
    main()
