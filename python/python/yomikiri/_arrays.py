"""Conversion of arrays and tensors to NumPy."""

import numpy as np


def numpy_of(array):
    """Returns any array (NumPy, PyTorch, JAX, TensorFlow) as NumPy's, without a copy if possible."""
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "detach"):  # a PyTorch tensor, possibly on another device or with a gradient
        array = array.detach().cpu()
        if hasattr(array, "resolve_conj"):
            array = array.resolve_conj()
        if str(array.dtype) == "torch.bfloat16":
            array = array.float()
    if hasattr(array, "__array__"):
        return np.asarray(array)
    if hasattr(array, "__dlpack__"):
        return np.from_dlpack(array)
    return np.asarray(array)


def numbers(array):
    """Returns any array as ``float32`` or ``float64`` in C order. Raises `TypeError` if it is not numeric."""
    array = numpy_of(array)
    if array.dtype.kind not in "biuf" and str(array.dtype) not in ("bfloat16", "float8_e4m3fn"):
        raise TypeError(f"invalid array of {array.dtype}: expected numbers")
    return np.ascontiguousarray(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)
