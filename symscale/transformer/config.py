"""An architecture in the field's own words: what a config says after its model type's names and defaults are read."""

from __future__ import annotations

from symscale.errors import ModelError
from symscale.frozen import dataclass

FULL, SLIDING, CHUNKED = "full", "sliding", "chunked"
KINDS = (FULL, SLIDING, CHUNKED)
NORMS = ("rms", "layer", "layer_without_bias", "none")
QK_NORMS = ("none", "head", "head_with_bias", "heads")


@dataclass(frozen=True)
class Attention:
    """Grouped-query attention: N query heads on K key/value heads of H; K = N is MHA, K = 1 MQA.

    `qk_norm` is `none`, one gain per head dimension for all heads (`head`, `head_with_bias`), or one for each head
    and dimension (`heads`). `sinks` adds a learned logit per query head to the denominator of the softmax.
    """

    N_heads: int
    K: int
    H: int
    qkv_bias: bool = False
    out_bias: bool = False
    qk_norm: str = "none"
    sinks: bool = False


@dataclass(frozen=True)
class LatentAttention:
    """Multi-head latent attention: keys and values of all heads come from one latent of rank R_kv.

    The cache holds the latent and one rotary key of H_rope; `R_q` 0 projects queries without a rank.
    """

    N_heads: int
    R_q: int
    R_kv: int
    H_nope: int
    H_rope: int
    H_v: int
    latent_bias: bool = False
    out_bias: bool = False


@dataclass(frozen=True)
class Mlp:
    """A feed-forward block: three matrices if `gated`, two if plain."""

    F: int
    gated: bool = True
    bias: bool = False


@dataclass(frozen=True)
class Experts:
    """A mixture of E gated experts of which k run for a token, and one shared MLP of F_shared (0: none).

    `router` says whether a matrix chooses the experts; only a textbook's estimate leaves it out.
    """

    E: int
    k: int
    F: int
    gated: bool = True
    bias: bool = False
    router: bool = True
    router_bias: bool = False
    F_shared: int = 0
    shared_gate: bool = False
    shared_bias: bool = False


@dataclass(frozen=True)
class Config:
    """A decoder-only transformer.

    `kinds`, `routed` and `owns_kv` say for each layer: full, sliding or chunked attention; experts instead of an MLP;
    keys and values of its own, or those of an earlier layer. `positions` counts the rows of a learned table,
    `positions_kept` those of them that no token has, `D_embed` is the width of the token table if it is not D.
    `assumed` lists what was not stated and follows from the model type, `ignored` what was stated and has no meaning
    for it. `dropout` says that training drops attention weights and the results of sublayers; that costs masks, and
    no parameters.
    """

    name: str
    model_type: str
    D: int
    V: int
    attention: Attention | LatentAttention
    mlp: Mlp | None
    experts: Experts | None
    kinds: tuple[str, ...]
    routed: tuple[bool, ...]
    owns_kv: tuple[bool, ...]
    window: int = 0
    norm: str = "rms"
    norms_per_layer: int = 2
    final_norm: bool = True
    embedding_norm: bool = False
    tied: bool = False
    unembedding_bias: bool = False
    positions: int = 0
    positions_kept: int = 0
    D_embed: int = 0
    dropout: bool = False
    assumed: tuple[tuple[str, str], ...] = ()
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def L(self) -> int:
        """The number of layers."""
        return len(self.kinds)


def validate(config: Config) -> Config:
    """Return `config` if its parts fit together. Raises ModelError naming the two values that do not."""
    attention = config.attention
    if isinstance(attention, Attention) and attention.N_heads % attention.K:
        raise ModelError(
            f"{config.name}: {attention.N_heads} query heads are no multiple of {attention.K} key/value heads.",
            hint="Every key/value head serves the same number of query heads: make it a divisor.",
        )
    if config.dropout and config.experts is not None:
        raise ModelError(
            f"{config.name}: where experts drop activations is not known here.",
            hint="Count it without dropout; a mask takes a byte per element it may drop.",
        )
    if config.experts is not None and config.experts.k > config.experts.E:
        raise ModelError(
            f"{config.name}: {config.experts.k} active experts of {config.experts.E}.",
            hint="A token runs through at most as many experts as there are.",
        )
    if any(kind != FULL for kind in config.kinds) and not config.window:
        raise ModelError(
            f"{config.name}: {_first_local(config)} attention has no window.",
            hint="Give its size: sliding_window, or attention_chunk_size for chunks.",
        )
    if not config.owns_kv[0]:
        raise ModelError(
            f"{config.name}: the first layer shares keys and values, but there is no layer before it.",
            hint="Fewer layers can share than there are.",
        )
    for kind in dict.fromkeys(config.kinds):
        if not any(own for each, own in zip(config.kinds, config.owns_kv, strict=True) if each == kind):
            raise ModelError(
                f"{config.name}: every {kind} layer shares keys and values, and none has its own.",
                hint="A layer takes those of an earlier layer of its kind.",
            )
    return config


def check_length(config: Config, length: int, option: str) -> None:
    """Raise ModelError where a sequence [tokens] is longer than the positions that a model has learned."""
    most = config.positions - config.positions_kept
    if config.positions and length > most:
        raise ModelError(
            f"{config.name} has learned {most:,} positions, and a sequence of {length:,} tokens is asked for.",
            hint=f"Give {option} {most} or less, or a config whose table of positions is longer.",
        )


def _first_local(config: Config) -> str:
    return next(kind for kind in config.kinds if kind != FULL)
