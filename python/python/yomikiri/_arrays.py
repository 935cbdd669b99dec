"""Conversion of arrays and tensors to NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def numpy_of(array: object) -> NDArray[np.generic]:
    """Returns any array (NumPy, PyTorch, JAX, TensorFlow) as NumPy's, without a copy if possible."""
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "detach"):  # a PyTorch tensor, possibly on another device or with a gradient
        tensor = array.detach().cpu()
        if hasattr(tensor, "resolve_conj"):
            tensor = tensor.resolve_conj()
        array = tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor
    if hasattr(array, "__array__"):
        return np.asarray(array)
    if hasattr(array, "__dlpack__"):
        return np.from_dlpack(array)
    return np.asarray(array)


def numbers(array: object) -> NDArray[np.float32] | NDArray[np.float64] | NDArray[np.int64]:
    """Returns any array as ``float32``, ``float64`` or ``int64`` in C order. Raises `TypeError` if it is not numeric."""
    found = numpy_of(array)
    if found.dtype.kind not in "biuf" and str(found.dtype) not in ("bfloat16", "float8_e4m3fn"):
        raise TypeError(f"invalid array of {found.dtype}: expected numbers")
    if found.dtype == np.float32:
        return np.ascontiguousarray(found, dtype=np.float32)
    if found.dtype.kind in "iu":
        return np.ascontiguousarray(found, dtype=np.int64)
    return np.ascontiguousarray(found, dtype=np.float64)
