"""How a model is trained: batch, dtypes, checkpointing, optimizer, what is split over replicas, schedule."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from symscale.array import ELEMENT_BYTES
from symscale.array.dtypes import dtype
from symscale.frozen import dataclass
from symscale.vocabulary import symbol

#: Bytes of optimizer state per parameter, beside weights and gradients: an fp32 copy of the weights (4, but for
#: `adam-no-master`) and moments. Adam has two in fp32 (ZeRO, arXiv:1910.02054, section 3.1), `adam-bf16` two of two
#: bytes, `adam-8bit` two of one, momentum and Lion one in fp32. `adam-fp32-gradients` keeps an fp32 copy of the
#: gradients as well, as DeepSpeed does.
OPTIMIZERS: Mapping[str, int] = {
    "adam": 12,
    "adam-bf16": 8,
    "adam-8bit": 6,
    "adam-no-master": 8,
    "adam-fp32-gradients": 16,
    "momentum": 8,
    "lion": 8,
    "sgd": 4,
}
LOGIT_BYTES = 4  # the softmax runs in fp32
#: Which states a ZeRO stage splits over the replicas of a weight.
STAGES_OF_ZERO: Mapping[str, int] = {"optimizer": 1, "gradients": 2, "weights": 3}
B_ELEMENT = symbol("b")


@dataclass(frozen=True)
class Setting:
    """How a model is trained: tokens per step B, sequence length T, and the choices that cost memory or time.

    `zero` is the ZeRO stage over the replicas of each weight (0 copies everything); `gradients` their dtype, that of
    the arrays if empty; `sequence` splits positions over `tensor` between the sublayers; `chunks` of layers per stage
    belong to an interleaved schedule. `offloaded` names the states that lie in the memory of the host.
    """

    tokens: int
    length: int
    dtype: str = "bf16"
    remat: str = "selective"
    optimizer: str = "adam"
    overlap: str = "max"
    schedule: str = "1f1b"
    causal: bool = True
    zero: int = 1
    gradients: str = ""
    sequence: bool = True
    chunks: int = 1
    offloaded: tuple[str, ...] = ()

    @property
    def gradient_bytes(self) -> sp.Expr:
        """Bytes of a gradient's element: b, or those of its own dtype [B]."""
        return ELEMENT_BYTES[dtype(self.gradients)] if self.gradients else B_ELEMENT
