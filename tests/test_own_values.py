"""Values of a reader's own in place of a chip's figures, and names that would hide which symbol is which."""

from __future__ import annotations

import pytest

from symscale.errors import SymscaleError
from symscale.paper.dialect import LATEX, MARKDOWN
from symscale.paper.request import read_request
from symscale.paper.settings import Settings
from symscale.paper.write import write


def md(sentence: str) -> str:
    return write(read_request(sentence), MARKDOWN, Settings())


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("training/fsdp value set=W_ici=90e9", "5100 tokens per chip"),
        ("training/fsdp value set=C=918e12", "5100 tokens per chip"),
        ("training/fsdp value set=C=2*C,W_ici=2*W_ici", "2550 tokens per chip"),
        ("training/fsdp value on=tpu-v5e set=C=459e12", "5100 tokens per chip"),
        ("training/fsdp value set=T_hop=1", "2550 tokens per chip"),
        ("training/tp value set=F=8192,W_ici=90e9", "1.606 chips"),
    ],
)
def test_a_value_counts_in_place_of_the_chips(sentence: str, said: str) -> None:
    assert md(sentence) == said
    claim = md(sentence.replace(" value", " claim form=number"))
    assert said in claim.replace(r"\thinspace\text{", " ").replace("chips}", "chips").replace("chip}", "chip")


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("training/fsdp value set=W_ici=nan", "nan has no value"),
        ("training/fsdp value set=W_ici=B", "B has no value"),
        ("training/fsdp value set=b=1", "follows from the dtypes"),
        ("training/fsdp value overlap=foo", "Unknown overlap"),
        (r"training/fsdp claim rename=B=W_{\text{ici}}", "both be written"),
        (r"training/fsdp claim rename=B=x rename=X=\mathit{x}", "both be written"),
        (r"training/fsdp claim rename=B=\mathrm{x} rename=X=\text{x}", "both be written"),
        (r"training/fsdp claim rename=B=β rename=X=\beta", "both be written"),
        ("training/fsdp claim rename=B=1", "no letter"),
        (r"training/fsdp claim rename=B=\frac{1}{2}", "no letter"),
    ],
)
def test_what_has_no_answer_is_said(sentence: str, said: str) -> None:
    with pytest.raises(SymscaleError, match=said):
        write(read_request(sentence), LATEX, Settings())
