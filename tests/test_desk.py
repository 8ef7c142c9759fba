"""The desk: answers of every kind, and what becomes of them."""

from __future__ import annotations

import pytest

from symscale.exercise.desk import check
from symscale.exercise.exercise import exercise

VERDICTS = [
    ("training/fsdp", "B/X > C/W", "right"),
    ("training/fsdp", "X < B*W/C", "right"),
    ("training/fsdp", r"\frac{B}{X} > \frac{C}{W}", "right"),
    ("training/fsdp", "B/X ≥ b*C/(2*W_ici)", "right"),
    ("training/fsdp", "B >= b*C*(X - 1)/(2*W_ici)", "right"),
    ("training/fsdp", "B/X < C/W", "wrong"),
    ("training/fsdp", "2.55k tokens", "right"),
    ("training/fsdp", "2550 GB", "right number, wrong unit"),
    ("training/fsdp", "7777", "wrong"),
    ("training/fsdp", "AllGather_X(W_in), AllGather_X(W_out)", "right"),
    ("training/fsdp", "T_comms = 2*b*D*F/W_ici", "right to leading order"),
    ("training/mixed-mesh", "X=16, Y=4", "right"),
    ("training/mixed-mesh", "X=8, Y=8", "wrong"),
    ("training/llama2-13b-mesh", "B/N_chips >= C^2/(2*F*W_ici^2)", "right"),
    ("training/llama2-13b-mesh", "B/N_chips < C^2/(2*F*W_ici^2)", "wrong"),
    ("training/mixed-mesh", "X = 16", "right"),
    ("training/mixed-mesh", "16", "right"),
    ("training/mixed-mesh", "Y = 4", "right"),
    ("training/mixed-mesh", "Y = 3", "wrong"),
    ("training/mixed-mesh", "X = 13.69", "right to leading order"),
    ("training/mixed-mesh", "8", "wrong"),
    ("training/mixed-mesh", "12", "wrong"),
    ("ch5.q3.3.step-time", "311 ms", "right"),
    ("ch5.q3.3.step-time", "311", "right number, wrong unit"),
    ("ch2.q6.array", "16 GB", "right under another convention"),
    ("ch7.claim.ici-orders-slower", "no, one order only", "right"),
    # the question is no answer, nor is what does not follow
    ("training/fsdp", "T_math >= T_comms", "wrong"),
    ("training/fsdp", "4*B*D*F/(X*C) > 4*D*F/W", "wrong"),
    ("training/fsdp", "4*D*F/W < 4*B*D*F/(X*C)", "wrong"),
    ("training/fsdp", "C/W > B/X > 0", "wrong"),
    ("training/fsdp", "B/X > C/W and X > 5", "wrong"),
    ("training/dp-chips", "X < 47058 and B > 1e9", "wrong"),
    ("training/dp-chips", "X < 47058 and B > 1e6", "right"),
    ("transformer/attention-share", "T > 36864 and D < 1", "wrong"),
    ("training/mixed-mesh", "X=14", "wrong"),
    ("training/mixed-mesh", "14", "wrong"),
    ("training/mixed-mesh", "X=16, Z=4", "wrong"),
    ("training/mixed-mesh", "X=16, D=4", "wrong"),
]


@pytest.mark.parametrize(("id", "answer", "kind"), VERDICTS)
def test_an_answer_has_its_verdict(id: str, answer: str, kind: str) -> None:
    assert check(exercise(id), answer).kind == kind
