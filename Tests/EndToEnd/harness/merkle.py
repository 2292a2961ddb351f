"""The Merkle tree of RFC 6962 by its recursive definitions (section 2.1), to test a verifier against."""

import hashlib


def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def split(count: int) -> int:
    """The largest power of two that is less than count."""
    return 1 << (count - 1).bit_length() - 1


def root(leaves: list) -> bytes:
    if not leaves:
        return sha256()
    if len(leaves) == 1:
        return leaves[0]
    middle = split(len(leaves))
    return sha256(b"\x01", root(leaves[:middle]), root(leaves[middle:]))


def inclusion(index: int, leaves: list) -> list:
    """PATH(m, D[n])."""
    if len(leaves) == 1:
        return []
    middle = split(len(leaves))
    if index < middle:
        return [*inclusion(index, leaves[:middle]), root(leaves[middle:])]
    return [*inclusion(index - middle, leaves[middle:]), root(leaves[:middle])]


def consistency(old: int, leaves: list, whole: bool = True) -> list:
    """PROOF(m, D[n]), by SUBPROOF."""
    if old == len(leaves):
        return [] if whole else [root(leaves)]
    middle = split(len(leaves))
    if old <= middle:
        return [*consistency(old, leaves[:middle], whole), root(leaves[middle:])]
    return [*consistency(old - middle, leaves[middle:], False), root(leaves[:middle])]


def peaks(leaves: list) -> list:
    found, start = [], 0
    for level in reversed(range(len(leaves).bit_length())):
        if len(leaves) >> level & 1:
            found.append(root(leaves[start : start + (1 << level)]))
            start += 1 << level
    return found


def nodes(first: int, last: int, leaves: list) -> list:
    """The nodes of level 8 and above that end at a position from `first` to `last`."""
    found, level = [], 8
    while last >> level:
        for node in range((first - 1) >> level, last >> level):
            found.append(root(leaves[node << level : (node + 1) << level]))
        level += 1
    return found
