"""A stack in plain NumPy, formula by formula, with explicit inverses and eigenvalues: slow and obvious."""

import numpy as np
from tests.oracles import online

LAYERS = {"moml": online.moml, "opml": online.opml, "lego": online.lego, "rdml": online.rdml_layer}


def phi(Z, activation):
    return {"relu": np.maximum(Z, 0), "sigmoid": 1 / (1 + np.exp(-Z)), "tanh": np.tanh(Z)}[activation]


def phi_slope(Z, activation):
    H = phi(Z, activation)
    return {"relu": (Z > 0).astype(float), "sigmoid": H * (1 - H), "tanh": 1 - H**2}[activation]


def hinge(Z):
    """``1 + ||z_t - z_p||² - ||z_t - z_q||²`` for the columns t, p, q of Z."""
    u, v = Z[:, 0] - Z[:, 1], Z[:, 0] - Z[:, 2]
    return float(1 + u @ u - v @ v)


def forward(H, layers, kinds, steps, activation, counts):
    """Let every layer learn from the samples in the columns of H; return all inputs and outputs."""
    inputs, outputs = [], []
    for i, kind in enumerate(kinds):
        inputs.append(H)
        if steps[i]:
            D = np.stack([H[:, 0] - H[:, 1], H[:, 0] - H[:, 2], H[:, 0]])
            layers[i] = LAYERS[kind](layers[i], D, counts[i], steps[i])
        outputs.append(layers[i] @ H)
        H = phi(outputs[-1], activation)
    return inputs, outputs


def gradients(layers, inputs, outputs, activation, local, own_too):
    """The gradient of the loss by each layer (without the penalty); ``local`` are ``w_i s_i``."""
    result = [None] * len(layers)
    above = np.zeros_like(outputs[-1])
    for i in reversed(range(len(layers))):
        zt, zp, zq = outputs[i].T
        E = np.column_stack([zq - zp, zp - zt, zt - zq])
        active = hinge(outputs[i]) > 0
        own = active * E if i == len(layers) - 1 else above * phi_slope(outputs[i], activation)
        full = own + 2 * local[i] * active * E
        result[i] = (full if own_too else own) @ inputs[i].T
        above = layers[i].T @ full
    return result


def learn(
    X, triplets, kinds, step, activation, strategy="fp", rate=0.0, decay=0.0,
    local_loss="scaled", routing="below", freeze_w=False,
):  # fmt: skip
    """Run a stack over triplets; return layers, weights, and counts (updates, failures) per layer."""
    n, d = len(kinds), X.shape[1]
    layers, w, counts = [np.eye(d)] * n, np.ones(n), np.zeros((n, 2), dtype=int)
    steps = np.full(n, 0.0 if strategy == "bp" else step)
    for triplet in triplets:
        inputs, outputs = forward(X[triplet].T, layers, kinds, steps, activation, counts)
        if strategy == "fp":
            continue
        scale = np.zeros(n) if strategy == "bp" else np.ones(n) if local_loss == "hinge" else steps
        dL = gradients(layers, inputs, outputs, activation, w * scale, routing == "all")
        counts[:, 0] += strategy == "bp" and hinge(outputs[-1]) > 0
        for i in range(n):
            layers[i] = layers[i] - rate * (dL[i] + decay * layers[i])
            if not freeze_w:
                w[i] = max(0.0, w[i] - rate * scale[i] * max(0.0, hinge(outputs[i])))
    return np.stack(layers), w, counts
