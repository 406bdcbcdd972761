"""Which kernels a learner calls, as it is set: those a worker checks before its first cell."""

from __future__ import annotations

from typing import Any

SCANS = {
    "OPML": "opml.opml_scan",
    "LEGO": "lego.lego_scan",
    "RDML": "rdml.rdml_scan",
    "OASIS": "oasis.oasis_scan",
    "SLMOML": "slmoml.slmoml_scan",
}

PASSES = {
    "LMNN": ("target_distances", "dense_pass", "find_candidates", "sparse_pass"),
    "LMDML": ("self_products", "epoch", "mean_hinge"),
    "MLCC": ("lloyd", "centre_pass", "cluster_pass"),
}


def kernels_of(learner: Any) -> set[str]:
    """Return the names of the kernels' problems, those of the 5-NN test included.

    >>> from mloml import MOML
    >>> sorted(kernels_of(MOML(factor="none")))
    ['knn.majority', 'knn.nearest_rows', 'moml.moml_scan', 'triplets.triplet_pass']
    """
    kind = type(learner).__name__
    names = {"knn.majority"} if kind == "OASIS" else {"knn.majority", "knn.nearest_rows"}
    if kind in PASSES:
        names |= {f"{kind.lower()}.{function}" for function in PASSES[kind]}
        return names | ({"neighbours.nearest_of_class"} if kind != "MLCC" else set())
    if kind in SCANS:
        return names | {"triplets.triplet_pass", SCANS[kind]}
    if kind in ("MOML", "MLOML"):
        return names | {"triplets.triplet_pass", _stack_scan(learner)}
    return names


def _stack_scan(learner: Any) -> str:
    if learner.factor == "none":
        return "moml.moml_scan"
    propagation = getattr(learner, "propagation", "fp")
    if propagation == "bp":
        return "scans.bp_scan"
    scan = "stack.fp_scan" if propagation == "fp" else "scans.fbp_scan"
    return f"{scan} dense" if _has_dense_layers(learner) else scan


def _has_dense_layers(learner: Any) -> bool:
    """Whether a layer is neither MOML on a frame nor OPML, which both can leave changes waiting."""
    from mloml.learners.layer_settings import layer_names, own_params

    if type(learner).__name__ == "MOML":
        return bool(learner.factor != "frame")
    names = layer_names(learner.layer, learner.n_layers)
    return any(
        name in ("lego", "rdml") or (name == "moml" and own.get("factor", learner.factor) != "frame")
        for name, own in zip(names, own_params(learner.layer_params, names), strict=True)
    )
