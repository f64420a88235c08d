"""First layers on lists of the inputs that are 1: some fifty of some four hundred are.

A row of lists, int16 (n, WIDTH), is how many inputs are 1, then which. Adding up their rows of the
first matrix takes a fifth of the time of a product with all of them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from bideuchre_env.runtime.jit import Array, entry_kernel

WIDTH = 128  # of a list: the largest deck's longest has about 110


@entry_kernel
def add_rows(lists: Array, matrix: Array, bias: Array, sums: Array) -> None:
    """sums (n, H) = bias (H,) + the listed rows of matrix (F, H); float32."""
    for i in range(len(lists)):
        for k in range(len(bias)):
            sums[i, k] = bias[k]
        for j in range(1, lists[i, 0] + 1):
            at = lists[i, j]
            for k in range(len(bias)):
                sums[i, k] += matrix[at, k]


@entry_kernel
def add_to_rows(lists: Array, gradients: Array, matrix: Array) -> None:
    """Add gradients[i] (H,) to every row of matrix (F, H) that list i has; float32."""
    for i in range(len(lists)):
        for j in range(1, lists[i, 0] + 1):
            at = lists[i, j]
            for k in range(matrix.shape[1]):
                matrix[at, k] += gradients[i, k]


class SumOfRows(torch.autograd.Function):
    """`add_rows` with its gradient, on the CPU."""

    @staticmethod
    def forward(ctx: Any, lists: Tensor, matrix: Tensor, bias: Tensor) -> Tensor:
        """The sums (n, H)."""
        ctx.save_for_backward(lists, matrix)
        sums = torch.empty(len(lists), len(bias))
        add_rows(lists.numpy(), matrix.detach().numpy(), bias.detach().numpy(), sums.numpy())
        return sums

    @staticmethod
    def backward(ctx: Any, gradients: Tensor) -> Any:
        """The gradients of matrix and bias."""
        lists, matrix = ctx.saved_tensors
        found = torch.zeros_like(matrix)
        add_to_rows(lists.numpy(), gradients.contiguous().numpy(), found.numpy())
        return None, found, gradients.sum(0)


def first_layer(lists: Tensor, matrix: Tensor, bias: Tensor) -> Tensor:
    """bias (H,) + the listed rows of matrix (F, H), for each of the lists (n, WIDTH); (n, H)."""
    if lists.device.type == "cpu":
        sums: Tensor = SumOfRows.apply(lists, matrix, bias)  # type: ignore[no-untyped-call]
        return sums
    return gathered(lists, matrix, bias)


def gathered(lists: Tensor, matrix: Tensor, bias: Tensor) -> Tensor:
    """The same by torch's own means, on any device."""
    counts = lists[:, 0].long()
    there = torch.arange(lists.shape[1] - 1, device=lists.device) < counts[:, None]
    at, starts = lists[:, 1:][there].long(), counts.cumsum(0) - counts
    return bias + torch.nn.functional.embedding_bag(at, matrix, starts, mode="sum")
