"""A stack in plain NumPy, formula by formula, with explicit inverses and eigenvalues: slow and obvious."""

import numpy as np

KEEP = FLOOR = 0.1
RDML_FLOOR, HALF = 1e-4, 0.5


def phi(Z, activation):
    return {"relu": np.maximum(Z, 0), "sigmoid": 1 / (1 + np.exp(-Z)), "tanh": np.tanh(Z)}[activation]


def phi_slope(Z, activation):
    H = phi(Z, activation)
    return {"relu": (Z > 0).astype(float), "sigmoid": H * (1 - H), "tanh": 1 - H**2}[activation]


def hinge(Z):
    """``1 + ||z_t - z_p||² - ||z_t - z_q||²`` for the columns t, p, q of Z."""
    u, v = Z[:, 0] - Z[:, 1], Z[:, 0] - Z[:, 2]
    return float(1 + u @ u - v @ v)


def root(M):
    values, vectors = np.linalg.eigh(M)
    return (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T


def frame(L, M):
    """The factor of M that keeps L's axes: the symmetric root of M seen from L, times L."""
    K = np.linalg.inv(L).T
    return root(K @ M @ K.T) @ L


def moml_layer(L, p, q, step, counts, keep=KEEP, floor=FLOOR):
    M = L.T @ L
    if step == 0 or 1 + p @ M @ p - q @ M @ q <= 0:
        return L
    pushed = M + step * np.outer(q, q)
    s = float(p @ np.linalg.solve(pushed, p))
    pull = max(0.0, min(step, (1 - keep) / s, 1 / s - floor / float(p @ p))) if s > 0 else step
    counts += [1, pull < step]
    return frame(L, pushed - pull * np.outer(p, p))


def opml_layer(L, p, q, step, counts, kept=0.1):
    if step == 0 or 1 + (L @ p) @ (L @ p) - (L @ q) @ (L @ q) <= 0:
        return L
    eye = np.eye(len(p))
    s = q @ np.linalg.solve(eye + step * np.outer(p, p), q)
    push = min(step, (1 - kept) / s) if s > 0 else step
    counts += [1, push < step]
    return L @ np.linalg.inv(eye + step * np.outer(p, p) - push * np.outer(q, q))


def lego_layer(L, p, q, step, counts, targets=(0.1, 1.0)):
    for z, target in zip((p, q), targets, strict=True):
        w = L.T @ (L @ z)
        old = z @ w
        if step == 0 or old < 1e-12:
            continue
        linear = step * target * old - 1
        new = (linear + np.sqrt(linear**2 + 4 * step * old**2)) / (2 * step * old)
        s = step * (new - target) / (1 + step * (new - target) * old)
        L = L - (1 - np.sqrt(1 - s * old)) / old * np.outer(L @ z, w)
        counts += [1, 0]
    return L


def rdml_layer(L, p, q, step, counts):
    """The metric stays above a floor, so that it has an inverse."""
    for z, sign in ((p, 1), (q, -1)):
        M = L.T @ L
        if step == 0 or sign * (1 - z @ M @ z) > 0:
            continue
        counts += [1, 0]
        new = M - step * sign * np.outer(z, z)
        if 1 - step * sign * (z @ np.linalg.solve(M, z)) < HALF:
            values, vectors = np.linalg.eigh(new)
            if values[0] < RDML_FLOOR:
                counts += [0, 1]
                new += (RDML_FLOOR - values[0]) * np.outer(vectors[:, 0], vectors[:, 0])
        L = frame(L, new)
    return L


LAYERS = {"moml": moml_layer, "opml": opml_layer, "lego": lego_layer, "rdml": rdml_layer}


def forward(H, layers, kinds, steps, activation, counts):
    """Let every layer learn from the samples in the columns of H; return all inputs and outputs."""
    inputs, outputs = [], []
    for i, kind in enumerate(kinds):
        inputs.append(H)
        layers[i] = LAYERS[kind](layers[i], H[:, 0] - H[:, 1], H[:, 0] - H[:, 2], steps[i], counts[i])
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
