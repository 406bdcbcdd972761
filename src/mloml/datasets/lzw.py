"""The decoder for ``.Z`` files of Unix compress, in which UCI keeps its waveform data."""

from __future__ import annotations

from mloml.errors import DataFormatError

_CLEAR = 256


def decompress(data: bytes, limit: int, where: str) -> bytes:
    """Return the unpacked bytes.

    Codes grow from 9 to at most ``max_bits`` bits (files limited to 9 are refused: programs disagree on
    them); whenever their width changes, the packer fills up the
    current group of eight codes, so the position is rounded up to a multiple of eight codes.
    """
    if data[:2] != b"\x1f\x9d" or len(data) < 3:
        raise DataFormatError(f"{where}: is not in the format of Unix compress")
    max_bits, block_mode = data[2] & 0x1F, bool(data[2] & 0x80)
    if not 10 <= max_bits <= 16:
        raise DataFormatError(f"{where}: codes of {max_bits} bits; damaged")
    first_free = 257 if block_mode else 256
    table = [bytes([i]) for i in range(256)] + [b""] * (first_free - 256)
    out: list[bytes] = []
    written, width, position, start, previous = 0, 9, 24, 24, b""
    total = len(data) * 8
    while position + width <= total:
        byte = position >> 3
        code = int.from_bytes(data[byte : byte + 3], "little") >> (position & 7) & ((1 << width) - 1)
        position += width
        if block_mode and code == _CLEAR:
            del table[first_free:]
            start = position = _next_group(position, start, width)
            width, previous = 9, b""
            continue
        if code < len(table):
            entry = table[code]
        elif code == len(table) and previous:
            entry = previous + previous[:1]
        else:
            raise DataFormatError(f"{where}: damaged (code {code} before it was defined)")
        out.append(entry)
        written += len(entry)
        if written > limit:
            raise DataFormatError(f"{where}: unpacks to more than {limit / 2**20:.3g} MB; refused")
        if previous and len(table) < 1 << max_bits:
            table.append(previous + entry[:1])
        previous = entry
        if len(table) >= 1 << width and width < max_bits:
            start = position = _next_group(position, start, width)
            width += 1
    return b"".join(out)


def _next_group(position: int, start: int, width: int) -> int:
    group = 8 * width
    return start + -(-(position - start) // group) * group
