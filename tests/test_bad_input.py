"""Bad input: one paragraph that says what was wrong, where, and a way out; exit code 2; nothing half-written."""

from __future__ import annotations

import time

import pytest

from symscale.cli import main

FSDP = "In[B_X, D] * W_in[D_X, F] * W_out[F, D_X] -> Out[B_X, D]"
MIXED = "In[B_X, D_Y] * W_in[D_X, F_Y] * W_out[F_Y, D_X] -> Out[B_X, D_Y]"
ONE = "x[B, D] * W[D, F] -> y[B, F]"
HEADS = "Q[B, K_X, H] * M[H, D] -> O[B, K_X, D]"
MILLION = 1_000_000


def derive(program: str, *options: str) -> list[str]:
    return ["derive", program, *options]


HARDWARE = [
    (derive(FSDP, "--on", "tpu-v5p", "--mesh", "X=2", "--axes", "X=3"), "2 chips|3 physical axes|such as 8", False),
    (derive(FSDP, "--mesh", "X=3", "--axes", "X=3"), "3 chips|3 physical axes", False),
    (derive(FSDP, "--on", "tpu-v5p", "--mesh", "X=6", "--axes", "X=3"), "6 chips|3 physical axes", False),
    (derive(FSDP, "--on", "h100:64:3"), "one colon|h100:4x32x8", True),
    (derive(FSDP, "--on", "h100", "--mesh", "X=64"), "nvlink|8 chips|h100:64|X=ib", False),
    (derive(FSDP, "--on", "tpu-v5e", "--mesh", "X=4096"), "256 chips|X = 4096|X=dcn", False),
    (["machines", "tpu-v5e:3x5"], "axis of 3|divide|16x16", True),
    (["machines", "tpu-v5e:4x32"], "axis of 32|16x16", True),
    (["machines", "tpu-v5p:3x4x4"], "axis of 3|cubes of 4x4x4", True),
    (["machines", "tpu-v5p:6x4x4"], "axis of 6|multiples of 4", True),
]
TWICE = [
    (derive(ONE, "--solve", "B", "--set", "B=4"), "B is given as 4|solved for too|--set B", False),
    (derive(FSDP, "--solve", "B/X", "--set", "B=4"), "B is given as 4", False),
    (derive(ONE, "--solve", "B", "--let", "B=4"), "--solve B|B = 4|Leave one", False),
    (["solve", "B >= 2*D", "--for", "B", "--set", "B=4"], "B is given as 4|solved for too", False),
    (["plan", "llama3-70b", "--on", "h100:64", "--csv", "--json"], "Two formats|json and csv", False),
    (["plan", "llama3-70b", "--on", "h100:64", "--format", "md", "--csv"], "Two formats|md and csv", False),
    (["solve", "(x-1)/(x-1) >= 1", "--for", "x"], "x cancels|1 >= 1", True),
    (["solve", "x**5 - a*x - 1 >= 0", "--for", "x"], "u for the unknown|no closed form", False),
]

# arguments, words of the message, whether a caret stands under the offending character
NOTATION = [
    (derive("In[B_X, D * W[D, F] -> Out[B, F]"), "'[' is never closed|Close it", True),
    (derive("In[B_X, D]] * W[D, F] -> Out[B, F]"), "']' closes nothing|Remove it", True),
    (derive("In[B_X, D] ** W[D, F] -> Out[B, F]"), "Found '*'|a name|A statement reads", True),
    (derive("In[B_X, D] * W[D, F] => Out[B, F]"), "Found '='|'->'", True),
    (derive("In[B_X, D] W[D, F] -> Out[B, F]"), "Found 'W'|'*'", True),
    (derive("In[B_X; D]"), "Found ';'|','|']'", True),
    (derive("In[B, D] @ W[D, F] -> O[B, F]"), "'@' has no meaning|name[dim", True),
    (derive("In[B, D] * W[D, F] ->"), "ends where|a name", True),
    (derive("In[B,, D] * W[D, F] -> O[B, F]"), "Found ','|a name", True),
    (derive("In[2, D] * W[D, F] -> O[2, F]"), "'2'|name[dim", True),
    (derive("-> O[B, F]"), "No such option|symscale derive --help", False),
    (derive(""), "The program is empty|Write one", False),
    (derive("  \n "), "The program is empty|Write one", False),
    (derive("\x00\x01\x7f"), "has no meaning here|Write arrays", True),
    (derive("\x1b[31mred"), "never closed|Close it", True),
    (derive("💥[B, D] * W[D, F] -> y[B, F]"), "'💥' has no meaning|Write arrays", True),
    (derive("(" * 10_000), "More than 60 nested brackets|Name a part", True),
    (derive("f(" * 200 + "x[B]" + ")" * 200 + " -> y[B]"), "More than 60 nested brackets|Name a part", True),
    (derive("a" * MILLION), "1,000,000 characters|at most 500,000|Split it", False),
    (derive("[" * MILLION), "1,000,000 characters|Split it", False),
    (derive("__import__('os')"), "'_' has no meaning|Write arrays", True),
    (derive(r"\frac{In[B_X, D]}{2}"), "has no meaning|Write arrays", True),
    (derive(r"\text{In}[B_X, D_Y \cdot_D W[D, F]"), "never closed", True),
]
PROGRAMS = [
    (derive("A[I_X, J_X] * B[J, K] -> C[I, K]"), "X twice|on I and on J|one mesh axis shards one dimension|J", True),
    (derive("A[I_XX, J] * B[J, K] -> C[I, K]"), "X twice", True),
    (derive("A[I, J] * B[K, L] -> C[I, L]"), "dimension J|missing in C|sum_J", True),
    (derive("A[I, J] * B[J, K] -> C[I, Z]"), "dimension Z|[I, K]|Remove it", True),
    (derive("A[I, J] * A[I, J, K] -> C[I, K]"), "A has the dimensions [I, J]|rename", True),
    (derive("A[I, J] * B[J, I]"), "no result|-> Out", True),
    (derive("A[I, J]"), "computes nothing|Write a product", True),
    (derive(ONE, "--mesh", "Q=4"), "an axis Q|does not use it|the mesh", False),
    (derive(FSDP, "--axes", "Q=2"), "axis Q|does not use it|X", False),
    (derive(FSDP, "--axes", "X=nvlink", "--on", "tpu-v5p"), "no network 'nvlink'|ici, dcn", False),
]
SIZES = [
    (derive(ONE, "--set", "D=0"), "D = 0 is not positive|above zero", False),
    (derive(ONE, "--set", "D=-1"), "D = -1 is not positive", False),
    (derive(ONE, "--set", "D=nan"), "nan is no number|positive number", False),
    (derive(ONE, "--set", "D=inf"), "inf is no number", False),
    (derive(ONE, "--set", "D=1e400"), "D is beyond|D=8192", False),
    (derive(ONE, "--set", "D=1e99999999"), "4200 digits|exponent", True),
    (derive(ONE, "--set", "D=1.5"), "D = 3/2 is not whole", False),
    (derive(ONE, "--set", "D=1/0"), "divides by zero|--help", True),
    (derive(ONE, "--set", "D=9**9**9**9"), "an exponent is at most 1000", True),
    (derive(ONE, "--set", "D=__import__('os')"), "a name starts with a letter", True),
    (derive(ONE, "--set", "D="), "expected here|a formula looks like", True),
    (derive(ONE, "--set", "D"), "an assignment was expected|D=8192", True),
    (derive(ONE, "--set", ""), "An assignment is empty|D=8192", False),
    (derive(ONE, "--set", "D=1", "--set", "D=2"), "D is given twice", False),
    (derive(ONE, "--set", "D=1,D=2"), "`D` is assigned twice", True),
    (derive(ONE, "--set", "Q=4"), "Q does not occur in the program|B, D, F", False),
    (derive(ONE, "--set", "W_pci=4"), "W_pci does not occur", False),
    (derive(ONE, "--set", "W_hbm=D"), "W_hbm is no dimension|W_hbm=", False),
    (derive(ONE, "--set", "D=F", "--set", "F=D"), "terms of itself|D = F, F = D|Leave one", False),
    (derive(ONE, "--set", "D=2*D"), "terms of itself|D = 2*D", False),
    (derive(FSDP, "--mesh", "X=0"), "X cannot have 0 chips|from 1", False),
    (derive(FSDP, "--mesh", "X=-3"), "X cannot have -3 chips", False),
    (derive(FSDP, "--mesh", "X=1.5"), "X cannot have 3/2 chips|whole number", False),
    (derive(FSDP, "--mesh", "X=nan"), "nan is no number", False),
    (derive(FSDP, "--mesh", "X=1e400"), "X cannot have that many chips", False),
    (derive(FSDP, "--mesh", "X=2,X=4"), "`X` is assigned twice", True),
    (derive(FSDP, "--mesh", "X"), "an assignment was expected", True),
    (derive(FSDP, "--mesh", "X=4", "--set", "X=4"), "X has a size already|--mesh or by --set", False),
    (derive(HEADS, "--set", "K=8", "--mesh", "X=16"), "K_X of Q|8 elements over 16 chips|replication|at most 8", False),
    (derive(HEADS, "--set", "K=8,X=16"), "8 elements over 16 chips|replication", False),
    (derive(FSDP, "--axes", "X=0"), "axis X cannot lie on '0'|physical axes", True),
    (derive(FSDP, "--axes", "X=wifi"), "'wifi'|ici, dcn|M_X", True),
    (derive(FSDP, "--axes", "X"), "'X' places no axis|X=3 or P=dcn", True),
    (derive(ONE, "--layers", "0"), "There cannot be 0 layers|from 1", False),
    (derive(ONE, "--layers", "1.5"), "There cannot be 1.5 layers", False),
    (derive(ONE, "--layers", "B"), "B is a size of the program|Rename", False),
]
OPTIONS = [
    (derive(ONE, "--on", "tpu-v5pp"), "'tpu-v5pp'|Did you mean tpu-v5p|--machine", False),
    (derive(ONE, "--on", "x" * 100_000), "No chip|Known chips", False),
    (derive(ONE, "--on", "v5p", "--machine", "a.toml"), "Both --on and --machine", False),
    (derive(ONE, "--machine", "/nowhere.toml"), "/nowhere.toml|cannot be read|TOML file", False),
    (derive(ONE, "--format", "pdf"), "format 'pdf'|text, md, latex, json", False),
    (derive(ONE, "--passes", "sideways"), "passes 'sideways'|forward, backward", False),
    (derive(ONE, "--overlap", "never"), "overlap 'never'|max, axes-serial, sum", False),
    (derive(ONE, "--dtype", "bf17"), "dtype 'bf17'|bf16", False),
    (derive(ONE, "--nope"), "--nope|symscale derive --help", False),
    (derive(ONE, "extra"), "extra|symscale derive --help", False),
    (["derive"], "PROGRAM|symscale derive --help", False),
    (["nope"], "nope|symscale --help", False),
    (derive(FSDP, "--solve", "Q"), "Q does not occur|Solve for one of B, D, F", True),
    (derive(FSDP, "--solve", ""), "--solve is empty|Leave it out", False),
    (derive(FSDP, "--solve", "B+"), "expected here|a formula looks like", True),
    (derive(FSDP, "--solve", "2"), "2 is neither a symbol nor a ratio|B/X", True),
    (derive(FSDP, "--solve", "B + D"), "neither a symbol nor a ratio|B/X", True),
    (derive(FSDP, "--solve", "T_hop"), "T_hop decides nothing|--latency", False),
    (derive(MIXED, "--solve", "N_chips"), 'The number of chips fixes no mesh|--subject-to "X*Y = N"', False),
    (derive(FSDP, "--solve", "B", "--assume", "B"), "a limit needs a sign|B << D, F", True),
    (derive(FSDP, "--solve", "B", "--assume", "B << Q"), "Q, which is no open size|B, D, F, X", False),
    (derive(FSDP, "--assume", "B << D"), "nothing is asked|--solve", False),
    (derive(MIXED, "--minimize", "X"), 'needs a constraint|--subject-to "X*Y = N"', False),
    (derive(MIXED, "--minimize", "Q", "--subject-to", "X*Y=N"), "Q is no mesh axis|X, Y", False),
    (derive(FSDP, "--minimize", "X", "--subject-to", "X=N", "--passes", "update"), "No pass sends anything", False),
    (derive(MIXED, "--minimize", "X", "--subject-to", "X*Y"), "a relation needs a sign", True),
    (derive(MIXED, "--minimize", "X", "--subject-to", "X*Y>=N"), "not an equation|X*Y = N", False),
    (derive(MIXED, "--minimize", "X", "--subject-to", "X*Q=N"), "fixes no mesh axis|X, Y", False),
    (derive(ONE, "--table", "B"), "no range|--table B=1k:1M:*2", False),
    (derive(ONE, "--table", "Q=1:8"), "Q does not occur", False),
    (derive(ONE, "--table", "B=1:8"), "C, D, F, W_hbm have none|--on|--set", False),
    (derive(ONE, "--table", "B=0:8", "--on", "v5e", "--set", "D=8,F=8"), "B = 0 is not positive", False),
    (derive(ONE, "--table", "B=8:1:1", "--on", "v5e", "--set", "D=8,F=8"), "never arrives", True),
    (derive(ONE, "--table", "B=1:5000", "--on", "v5e", "--set", "D=8,F=8"), "5,000 rows|widen the step", False),
    (derive(ONE, "-o", "/nowhere/at/all"), "/nowhere/at/all cannot be written|a folder you may write to", False),
    (derive(ONE, "-o", "/"), "cannot be written", False),
]
OTHERS = [
    (["solve", "9**9**9**9 >= B", "--for", "B"], "an exponent is at most 1000|--help", True),
    (["solve", "B >= __import__('os').system('ls')", "--for", "B"], "a name starts with a letter", True),
    (["solve", "x" * MILLION, "--for", "B"], "1,000,000 characters|limit", False),
    (["solve", "(" * 1000 + "B" + ")" * 1000 + " >= 1", "--for", "B"], "nested more than 50", True),
    (["solve", "B", "--for", "B"], "needs a sign|T_math >= T_comms", True),
    (["solve", "", "--for", "B"], "needs a sign", False),
    (["solve", "B >= 1", "--for", ""], "--for is empty", False),
    (["solve", "B >= 1", "--for", "Q"], "Q does not occur in the relation|B", True),
    (["solve", "B >= 1"], "--for|symscale solve --help", False),
    (["solve", "B >= C >= D", "--for", "B"], "not a chain|two relations", True),
    (["solve", "B/C >= b*B/W_hbm + D", "--for", "B"], "cannot add `D`|in s", False),
    (["solve", "T_math >= b", "--for", "b"], "`T_math` (in s)|`b` (in B)", False),
    (["solve", "x >= T1", "--for", "x", "--let", "T1=T2", "--let", "T2=T1"], "terms of itself|T1 = T2", False),
    (["solve", "x >= y", "--for", "x", "--set", "Q=1"], "Q does not occur|x, y", False),
    (["solve", "x >= y", "--for", "x", "--unit", "y"], "'y' gives no unit|W_pcie=B/s", False),
    (["solve", "x >= y", "--for", "x", "--unit", "y=parsec"], "`parsec` is not a unit|known", True),
    (["solve", "x >= C/W", "--for", "x", "--on", "v5e"], "W is any of W_hbm, W_ici|the one that is meant", False),
    (["solve", "exp(x) >= x**5 + log(x)", "--for", "x"], "inside exp|symscale solve --help", False),
    (["show", "nope"], "no derivation 'nope'", False),
    (["show", "../../etc/passwd"], "no derivation", False),
    (["machines", "v5pp"], "'v5pp'|Did you mean", False),
    (["completion", "tcsh"], "'tcsh'|bash, zsh, fish", False),
    (["report", "/proc/nope"], "/proc/nope cannot be made|may write to", False),
    (["compare", ONE, ""], "The program is empty", False),
    (["compare", ONE, "y[I"], "never closed", True),
    (["compare", ONE, FSDP, "--solve", "Q"], "Q does not occur in the times|B", True),
    (["compare", ONE, FSDP, "--mesh", "Q=2"], "Neither program uses the axis Q", False),
    (["compare", ONE, FSDP, "--set", "Q=2"], "Q does not occur in either program|B, D, F, X", False),
    (["compare", ONE, "A[I] -> B[I]"], "takes no time|a product", False),
    (["compare", ONE, FSDP, "--passes", "x"], "passes 'x'|forward", False),
]
RATE = "x[B, C] * W[C, F] -> y[B, F]"
NAMES = [
    (derive(RATE, "--solve", "C"), "C is a dimension|peak FLOPs per second|C_dim|rename", True),
    (derive(RATE, "--solve", "B", "--set", "C=4096"), "C is a dimension|peak FLOPs|C_dim", False),
    (derive(RATE, "--solve", "B", "--set", "F=4*C"), "C is a dimension|peak FLOPs|C_dim", True),
    (derive(RATE, "--solve", "B", "--assume", "B << C"), "C is a dimension|peak FLOPs|C_dim", True),
    (derive(RATE, "--table", "C=1:4", "--on", "v5e", "--set", "B=8,F=8"), "C is a dimension|C_dim", False),
    (derive("x[B, b] * W[b, F] -> y[B, F]", "--solve", "b"), "b is a dimension|bytes per element|b_dim", True),
    (derive("x[B_C, D] * W[D_C, F] -> y[B_C, F]", "--solve", "C"), "C is a mesh axis|peak FLOPs|C_axis", True),
    (derive("x[N_X, D] * W[D_X, F] -> y[N_X, F]", "--solve", "D", "--subject-to", "X = N"),
     "N is a dimension|number of chips|N_chips", True),
    (derive("x[B, exp] * W[exp, F] -> y[B, F]", "--solve", "B"), "'exp' is a function|d_exp", True),
    (derive("x[B, D_{log}] * W[D_{log}, F] -> y[B, F]"), "'log' is a function|d_log", True),
    (derive("x[B, log_size] * W[log_size, F] -> y[B, F]"), "'log_size' is a function|d_log_size", True),
    (derive("x[B_{tok}, M_tok] * W[M_tok, F] -> y[B_{tok}, F]", "--axes", "tok=M_tok"),
     "M_tok is a size|physical axes|Rename", False),
    (derive(RATE.replace("C", "D"), "--set", "F=4*d"), "d does not occur|It has D", True),
    (derive(RATE.replace("C", "D"), "--set", "F=4*C"), "peak FLOPs per second of one chip, which is no size", True),
    (derive(ONE, "--set", "alpha=4"), "alpha does not occur|B, D, F", False),
    (derive(ONE, "--let", "F=4*D"), "--let names F|--set F=", False),
    (["solve", "x >= y", "--for", "x", "--let", "T=3"], "--let names T|--set T=", False),
]  # fmt: skip
MESHES = [
    *((derive(MIXED, "--solve", "B", "--subject-to", f"X*Y = {count}"), f"cannot be {shown} chips|whole number", True)
      for count, shown in (("0", "0"), ("-4", "-4"), ("6.5", "13/2"), ("1e60", "that many"))),
    (derive(MIXED, "--minimize", "X", "--subject-to", "X*Y = 0"), "cannot be 0 chips|X*Y = 64", True),
    (derive(MIXED, "--solve", "B", "--subject-to", "X*Y = C"), "C is the peak FLOPs|not a number of chips", True),
    (derive(MIXED, "--solve", "B", "--subject-to", "X*Y = nan"), "nan is no number|X*Y = N", True),
    (derive(MIXED, "--solve", "B", "--subject-to", "X = X"), "fixes no mesh axis|X, Y", False),
    (derive(MIXED, "--solve", "B", "--subject-to", "X*Y = 64", "--mesh", "X=5"), "cannot be 64/5 chips", True),
    (derive(MIXED, "--solve", "B", "--subject-to", "X*Y = 64", "--mesh", "X=4,Y=4"), "16 = 64|Leave one", True),
    (derive(MIXED, "--solve", "B", "--subject-to", "X*Y = 64", "--set", "N=32"), "64 chips|N_chips|32", False),
    (derive(MIXED, "--solve", "B", "--subject-to", "X*Y = 64", "--set", "X=5"), "cannot be 64/5 chips", True),
    (derive(MIXED, "--solve", "B", "--subject-to", "X*Q = 64"), "Q is no mesh axis|X, Y", True),
    (derive(MIXED, "--solve", "B", "--subject-to", "X*y = 64"), "y is no mesh axis|X, Y", True),
    (derive(MIXED, "--mesh", "X=4*y"), "y is no axis|has Y", False),
    (derive(MIXED, "--subject-to", "X*Y = 64"), "nothing is asked|--solve", False),
    (derive(MIXED, "--minimize", "X", "--subject-to", "X*Y=N", "--set", "X=4"), "given as 4|Leave one", False),
    (derive(MIXED, "--mesh", "X=Y,Y=X"), "terms of itself|X = Y, Y = X|Leave one", False),
    (derive(MIXED, "--mesh", "X=2*X"), "terms of itself|X = 2*X", False),
    (derive(MIXED, "--mesh", "X=C"), "C is the peak FLOPs|whole numbers", False),
    (derive(MIXED, "--mesh", "X=4 B"), "X is a pure number|in B", True),
    (derive(MIXED, "--mesh", "X=4", "--mesh", "Y=4"), "--mesh is given 2 times: 'X=4' and 'Y=4'|commas", False),
    (derive(FSDP, "--axes", "X=7", "--on", "v5p"), "takes 7 physical axes|TPU v5p has 3|--axes|X=dcn", False),
    (derive(MIXED, "--axes", "X=3,Y=3", "--on", "v5p"), "X takes 3, Y takes 3|TPU v5p has 3", False),
    (derive(MIXED, "--axes", "X=3", "--on", "v5p"), "X takes 3, Y takes 1|TPU v5p has 3", False),
    (derive(FSDP, "--axes", "X=3", "--on", "v5e"), "takes 3 physical axes|TPU v5e has 2", False),
    (derive(FSDP, "--axes", "X=M_X", "--set", "M_X=3", "--on", "v5e"), "X takes 3|TPU v5e has 2", False),
    (derive(FSDP, "--axes", "X=M_X", "--set", "M_X=1.5"), "cannot span 3/2 physical axes|whole", False),
    (derive(FSDP, "--axes", "X=2", "--on", "h100"), "nvlink is a switch|Leave X out", False),
    (derive(FSDP, "--axes", ","), "places no axis|X=3", True),
    (derive(FSDP, "--axes", "X=1,X=2"), "X is placed twice|Leave one", True),
    (derive(FSDP, "--axes", "X=M_X/2"), "cannot lie on 'M_X/2'|M_X", True),
    (derive(FSDP, "--axes", "X=M_hbm"), "cannot lie on 'M_hbm'|M_X", True),
    (derive(FSDP, "--axes", "X=²"), "cannot lie on '²'|M_X", True),
    (derive(ONE, "--set", "C=1e15 B/s"), "C is in FLOP/s|in B/s|write a number", True),
    (derive(ONE, "--set", "D=8192 B"), "D is a pure number|in B", True),
    (derive(ONE, "--layers", "C"), "peak FLOPs|cannot count layers|such as L", False),
    (derive(ONE, "--layers", "-L"), "There cannot be -L layers", False),
    (derive(ONE, "--layers", "nan"), "nan is no number", False),
    (derive(ONE, "--table", "B=1 s:4 s", "--on", "v5e", "--set", "D=8,F=8"), "B is a pure number|in s", True),
    (derive(ONE, "--table", "B=8", "--on", "v5e", "--set", "D=8,F=8,B=16"), "B has a number already|--set", False),
    (derive(ONE, "--table", "B=1:1e400:*1.0001", "--on", "v5e", "--set", "D=8,F=8"), "at most 10,000|simpler", True),
]  # fmt: skip
LIMITS = [
    *((derive(FSDP, "--solve", "B", "--assume", limit), f"{words}|B << D, F or X >> 1", True)
      for limit, words in (("B << B", "B ≪ B|beside itself"), ("B << D, B", "B ≪ B"), (";;;", "no limit here"),
                           ("X << 1", "X ≪ 1|is a number"), ("1 << 1", "is a number"), ("B << 0", "is a number"),
                           ("0 << B", "a number other than 1"), ("B << 2*B", "beside itself"))),
    (derive(FSDP, "--solve", "B", "--assume", "W_ici << C"), "W_ici is in B/s and C is in 1/s|B << D", False),
    (derive(FSDP, "--solve", "B", "--assume", "C >> 1"), "C is in 1/s|a number|B << D", False),
    (derive(FSDP, "--solve", "B", "--assume", "B << D; D << B"), "contradict each other", False),
    (["compare", ONE, FSDP, "--solve", "B", "--assume", "Q >> 1"], "Q, which does not occur|B", False),
    (["compare", ONE, FSDP, "--solve", "B", "--assume", "W_ici << C"], "compares different units|B << D", False),
    (["solve", "x >= y + z", "--for", "x", "--assume", "y << y"], "beside itself|B << D", True),
    (["solve", "x >= y", "--for", "x", "--unit", "y="], "'y=' gives no unit|W_pcie=B/s", False),
    (["solve", "x >= y", "--for", "x", "--unit", "y=s", "--unit", "y=B"], "y is given a unit twice|Leave", False),
    (["solve", "x >= y", "--for", "x", "--unit", "q=s"], "q does not occur|x, y", False),
    (["solve", "x >= W_ici", "--for", "x", "--unit", "W_ici=s"], "W_ici is the bandwidth|in B/s", False),
]  # fmt: skip
CASES = [*NOTATION, *PROGRAMS, *SIZES, *OPTIONS, *OTHERS, *NAMES, *MESHES, *LIMITS, *HARDWARE, *TWICE]


def short(value: object) -> str:
    return " ".join(str(each)[:60] for each in value) if isinstance(value, list) else ""


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Load what the first command loads, so that times are those of the input."""
    with pytest.raises(SystemExit):
        main(["derive", "("])
    with pytest.raises(SystemExit):
        main(["derive", "a[B] b"])


@pytest.mark.parametrize(("arguments", "words", "caret"), CASES, ids=short)
def test_bad_input_is_explained(arguments, words, caret, capsys):
    start = time.process_time()
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    spent = time.process_time() - start
    out, err = capsys.readouterr()
    assert stopped.value.code == 2
    assert out == ""
    for word in words.split("|"):
        assert word in err
    lines = err.rstrip("\n").split("\n")
    assert lines[0].startswith("symscale: ")
    assert 2 <= len(lines) <= 5, "what was wrong, where, and a way out"
    assert lines[-1].strip() not in ("", "^"), "a way out comes last"
    assert max(map(len, lines)) < 400
    assert any(line.strip() == "^" for line in lines) is caret
    assert "Traceback" not in err
    assert "\x1b" not in err
    assert "\x00" not in err
    assert spent < 1


@pytest.mark.parametrize("target", ["file", "folder"])
def test_a_file_that_cannot_be_written_is_left_as_it_was(target, tmp_path, capsys):
    if target == "folder":
        (tmp_path / "out").mkdir()
    else:
        (tmp_path / "out").write_text("before", encoding="utf-8")
    bad = derive(FSDP, "--solve", "Q", "-o", str(tmp_path / "out"))
    if target == "folder":
        bad = derive(FSDP, "-o", str(tmp_path / "out"))
    with pytest.raises(SystemExit) as stopped:
        main(bad)
    assert stopped.value.code == 2
    assert capsys.readouterr().out == ""
    assert [each.name for each in tmp_path.iterdir()] == ["out"]
    if target == "file":
        assert (tmp_path / "out").read_text(encoding="utf-8") == "before"


@pytest.mark.parametrize(
    "program",
    [
        r"\text{In}[B_X, D] \cdot_D W_\text{in}[D_X, F] \rightarrow \text{Out}[B_X, F]",
        r"$\text{In}[B_X, D] \cdot W_{\text{in}}[D_X, F] \to \text{Out}[B_X, F]$",
        "In[B_X, D] · W_in[D_X, F] → Out[B_X, F]",
    ],
)
def test_latex_that_people_paste_is_read(program, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(derive(program, "--passes", "forward"))
    assert stopped.value.code == 0
    assert "AllGather_X: W_in[D_X, F] -> W_in[D, F]" in capsys.readouterr().out


def test_ctrl_c_is_no_traceback(monkeypatch, capsys):
    import symscale.derivation.question as question

    def interrupted(asked):
        raise KeyboardInterrupt

    monkeypatch.setattr(question, "derive", interrupted)
    with pytest.raises(SystemExit) as stopped:
        main(derive(ONE))
    assert stopped.value.code == 2
    assert "interrupted" in capsys.readouterr().err


def test_a_fault_of_our_own_is_no_traceback(monkeypatch, capsys):
    import symscale.derivation.question as question

    def broken(asked):
        raise TypeError("cannot do this\nsecond line")

    monkeypatch.setattr(question, "derive", broken)
    with pytest.raises(SystemExit) as stopped:
        main(derive(ONE))
    assert stopped.value.code == 2
    assert "a fault of symscale, not of the input (TypeError: cannot do this)" in capsys.readouterr().err
    monkeypatch.setenv("SYMSCALE_DEBUG", "1")
    with pytest.raises(TypeError):
        main(derive(ONE))


def test_a_wrong_expectation_is_exit_code_one(monkeypatch, capsys):
    from symscale.derivation import registry

    def wrong(d):
        layer = d.program(ONE, passes=("forward",))
        t = d.times(layer, "forward")
        d.crossover(t.math, ">=", t.hbm, "B", resource="hbm")
        d.evaluate(on="tpu-v5e", expect="300")

    monkeypatch.setattr(registry, "entry", lambda name: registry.Entry(name, "Wrong", "", wrong))
    with pytest.raises(SystemExit) as stopped:
        main(["show", "wrong"])
    assert stopped.value.code == 1
    assert "300 is expected" in capsys.readouterr().err
