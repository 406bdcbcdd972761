"""A sparse set that looks like text: 50,000 words, about 100 of them in a row, few of which tell the classes.

python benchmarks/planted_words.py      # how plain cosine 5-NN does on it

Most words of a row are drawn by Zipf's law, the same for every class. Some are drawn from the few planted
words, which are spread over all frequencies of the vocabulary: most of these from the planted words of the
row's own class, the others from those of any class. A word that was drawn n times counts 1 + log n, and rows
have length 1, as a vectorizer of texts would leave them. The numbers below were tuned only so that cosine
5-NN, which knows nothing of the planted words, scores between .5 and .7.
"""

import numpy as np
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

WORDS, CLASSES = 50_000, 5
DRAWS = 105  # about 100 different words a row
PLANTED = 40  # relevant words of each class
RELEVANT = 8  # how many of a row's draws are planted words, on average
OWN = 0.65  # the share of these that are of the row's own class for sure
EXPONENT = 0.8  # of Zipf's law
VOCABULARY = 2026  # seed of the planted words; committed before any learner had seen them


def planted_words(
    n_rows: int, seed: int, n_words: int = WORDS
) -> tuple[csr_array, np.ndarray, list[np.ndarray]]:
    """Return rows, their classes, and the planted words of each class; these are the same for every seed."""
    vocabulary = np.random.default_rng(VOCABULARY)
    ranks = np.arange(1, n_words + 1)
    planted = vocabulary.permutation(n_words)[: CLASSES * PLANTED].reshape(CLASSES, PLANTED)
    chances = np.cumsum(ranks**-EXPONENT)
    chances /= chances[-1]
    rng = np.random.default_rng([seed, 1])
    y = rng.integers(0, CLASSES, n_rows)
    words = vocabulary.permutation(n_words)[np.searchsorted(chances, rng.random((n_rows, DRAWS)))]
    relevant = rng.random((n_rows, DRAWS)) < RELEVANT / DRAWS
    owner = np.where(
        rng.random((n_rows, DRAWS)) < OWN, y[:, np.newaxis], rng.integers(0, CLASSES, words.shape)
    )
    words = np.where(relevant, planted[owner, rng.integers(0, PLANTED, words.shape)], words)
    return _weighted(words, n_words), y, list(planted)


def _weighted(words: np.ndarray, n_words: int) -> csr_array:
    """Return rows of length 1 in which a word that was drawn n times counts 1 + log n."""
    ends = np.arange(len(words) + 1) * words.shape[1]
    X = csr_array((np.ones(words.size), words.ravel(), ends), shape=(len(words), n_words))
    X.sum_duplicates()
    X.data = 1.0 + np.log(X.data)
    rows: csr_array = normalize(X)
    return rows


def cosine_accuracy(train: csr_array, y: np.ndarray, test: csr_array, y_test: np.ndarray) -> float:
    """Return the accuracy of cosine 5-NN, which is that of Euclidean 5-NN on rows of length 1."""
    from sklearn.neighbors import KNeighborsClassifier

    model = KNeighborsClassifier(5, metric="cosine", algorithm="brute").fit(train, y)
    return float(model.score(test, y_test))


if __name__ == "__main__":
    (train, y, _), (test, y_test, _) = planted_words(4_000, 0), planted_words(1_000, 1)
    print(f"{train.nnz / len(y):.0f} non-zeros a row")
    print(f"cosine 5-NN {cosine_accuracy(train, y, test, y_test):.3f}")
