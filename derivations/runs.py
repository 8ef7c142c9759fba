"""Training runs that were published: their FLOPs, the part of the peak they used, their hours and their energy."""

from symscale import derivation, training

GPT3 = "Brown et al. 2020, appendix D [@brown2020]"
PALM = "Chowdhery et al. 2022, appendix B [@chowdhery2022]"
LLAMA = "Touvron et al. 2023, LLaMA [@touvron2023]"
LLAMA3 = "Grattafiori et al. 2024, The Llama 3 Herd of Models [@grattafiori2024]"
DAY = 86400


@derivation("runs/compute", title="FLOPs of a run: 6 per parameter that a token meets", source=GPT3)
def compute(d):
    layer = d.program("x[B, D] * W[D, F] -> y[B, F]", passes=["forward", "backward"])
    for name in ("forward", "backward"):
        d.counts(layer, name)
    flops = layer.costs["forward"].total_flops + layer.costs["backward"].total_flops
    d.equal("FLOPs_weight", flops / d.read("B*D*F"), d.read("6"), "Per token and weight: 2 forward, 4 backward.")
    whole = flops / d.read("B*D*F") * d.read("share*P*tokens")
    d.equal("FLOPs_total", whole, d.read("6*share*P*tokens"), "A token meets a share of the P parameters.")
    d.equal("days_petaflop", whole / (DAY * 10**15), d.read("share*P*tokens/(144*10^17)"), "In petaFLOP/s for a day.")
    d.number("FLOPs_total", whole, values={"share": 1, "P": 174600 * 10**6, "tokens": 3 * 10**11}, expect="3.14e23")


@derivation("runs/mfu", title="Model FLOPs utilisation: useful FLOPs over the peak", source=PALM)
def mfu(d):
    found = training(d, "llama2-13b", show="step", causal=False)
    scores = found.step["scores"] / d.symbol("B")
    d.expect(scores, "12*L*N_heads*H*T")
    used = d.read("rate/(N_chips*C)")
    d.equal(
        "mfu_products", used * 6 * d.symbol("P"), d.read("6*P*rate/(N_chips*C)"), "Products alone, by tokens per s."
    )
    with_scores = used * (6 * d.symbol("P") + scores)
    d.equal("mfu", with_scores, d.read("(6*P + 12*L*N_heads*H*T)*rate/(N_chips*C)"), "Scores of every pair included.")
    d.equal("mfu_rate", d.read("rate_flops/C"), d.read("1/C") * d.read("rate_flops"), "By FLOPs per second of a chip.")
    palm = {"P": 540350 * 10**6, "L": 118, "N_heads": 48, "H": 256, "T": 2048, "N_chips": 6144, "C": 275 * 10**12}
    d.number("mfu", with_scores, values={**palm, "rate": 238300}, expect="0.462")


@derivation("runs/hours", title="Chip hours of a run, and the least that there can be", source=LLAMA)
def hours(d):
    spent = d.read("tokens/(3600*rate_chip)")
    d.equal("hours", spent, d.read("tokens/rate_chip") / 3600, "Tokens over what one chip trains on in an hour.")
    d.number("hours", spent, values={"tokens": 14 * 10**11, "rate_chip": 380}, expect="1.02e6")
    days = d.read("tokens/(86400*rate_chip*N_chips)")
    d.equal("days", days, spent / d.read("24*N_chips"), "On N chips.")
    used = d.read("6*P*tokens/(3600*hours*C)")
    d.equal("mfu", used, d.read("6*P*tokens") / d.read("3600*hours*C"), "Which part of the peak these hours used.")
    least = d.crossover(used, "<=", d.read("1"), "hours", exact=True, title="No chip exceeds its peak")
    d.expect(least, "hours >= 6*P*tokens/(3600*C)")
    d.equal("FLOPs_total", d.read("mfu*C*N_chips*days*86400"), d.read("mfu*C*N_chips*24*3600*days"), "From an MFU.")


@derivation("runs/energy", title="Energy and emissions of a run", source=LLAMA)
def energy(d):
    spent = d.read("hours*power*PUE")
    d.equal("kWh", spent, d.read("hours") * d.read("power*PUE"), "Power in kW, times what cooling and supply add.")
    d.equal("kg", spent * d.read("carbon"), d.read("hours*power*PUE*carbon"), "At so many kg of CO2 per kWh.")
    known = {"hours": 1022362, "power": d.read("4/10"), "PUE": d.read("11/10")}
    d.number("kWh", spent, values=known, expect="450e3")
    d.number("kg", spent * d.read("carbon"), values={**known, "carbon": d.read("385/1000")}, expect="173e3")


@derivation("runs/mesh", title="The chips of a mesh and the tokens of its batch", source=LLAMA3)
def mesh(d):
    chips = d.read("N_tensor*N_context*N_pipe*N_data")
    d.equal("N_chips", chips, d.read("N_tensor*N_context") * d.read("N_pipe*N_data"), "Every axis splits each group.")
    d.equal("B", d.read("N_data*n*T"), d.read("N_data") * d.read("n*T"), "n sequences of T tokens for each replica.")
    sizes = {"N_tensor": 8, "N_context": 16, "N_pipe": 16, "N_data": 8}
    d.number("N_chips", chips, values=sizes, expect="16384")
    d.number("B", d.read("N_data*n*T"), values={"N_data": 8, "n": 16, "T": 131072}, expect="16*2^20")
