"""What can happen to the file of a cell: functions from its bytes, those of another cell and chance."""

import json
from itertools import cycle

from mloml.experiments.store import pack, unpack


def flip_a_bit(content, other, chance):
    place = chance.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << chance.randrange(8)]) + content[place + 1 :]


def cut(content, other, chance):
    return content[: chance.randrange(len(content))]


def append(content, other, chance):
    return content + chance.choice([b" ", b"\n", b"\0", b"}", chance.randbytes(9), content])


def lose_or_repeat_a_part(content, other, chance):
    start, stop = chance.sample(range(len(content)), 2)
    return content[:start] + content[stop:]


def overwrite_a_part(content, other, chance):
    start, stop = sorted(chance.sample(range(len(content) + 1), 2))
    filler = chance.choice([b"\0", b" ", b"0", b"9"]) * (stop - start)
    return content[:start] + chance.choice([filler, chance.randbytes(stop - start)]) + content[stop:]


def mix_with_another(content, other, chance):
    place = chance.randrange(len(content))
    return content[:place] + other[place:]


def replace_by_something_else(content, other, chance):
    return chance.choice([other, b"", b"{}", b"[]", b"null", b"[" * 100_000, b'{"sha256": 1, "record": {}}'])


def lie_with_a_right_checksum(content, other, chance):
    wrong = [float("nan"), float("inf"), -float("inf"), -0.1, 1.1, 10**400, "0.1", True, None, [0.1], {}]
    lies = [{"error": error} for error in wrong]
    lies += [{"seconds": {}}, {"seconds": {"total": -1.0}}, {"split": "0"}, {"split": True}, {"chosen": []}]
    lies += [{"dataset": 1}, {"key": None}, {"algorithm": ["a"]}]
    return pack(unpack(content) | chance.choice(lies))


def lose_a_field(content, other, chance):
    record = unpack(content)
    del record[chance.choice(["error", "seconds", "dataset", "algorithm", "key", "split", "chosen"])]
    return pack(record)


def reformat(content, other, chance):
    return json.dumps(json.loads(content), indent=chance.randrange(1, 5)).encode()


DAMAGES = (
    flip_a_bit,
    cut,
    append,
    lose_or_repeat_a_part,
    overwrite_a_part,
    mix_with_another,
    replace_by_something_else,
    lie_with_a_right_checksum,
    lose_a_field,
    reformat,
)


def damages(pairs, chance):
    """Yield the name of a damage and its bytes for each pair of contents, all kinds in turn."""
    for (content, other), damage in zip(pairs, cycle(DAMAGES), strict=False):
        made = content
        while made == content:
            made = damage(content, other, chance)
        yield damage.__name__, made
