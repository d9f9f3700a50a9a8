"""Arrays of torch: read where they lie, and written into."""

from typing import assert_type

import numpy as np
import torch

import mpsgraph_native as mg


def main() -> None:
    tensor = torch.ones(2, 3)
    assert_type(mg.relu(tensor), np.ndarray)
    result = torch.empty(2, 3)
    assert_type(mg.relu(tensor, out=result), torch.Tensor)
    assert mg.relu(tensor, out=result) is result
    assert_type(mg.asarray(tensor), mg.TensorData)


if __name__ == "__main__":
    main()
