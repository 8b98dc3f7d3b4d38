"""Which block of the key-value cache belongs to whom, and which blocks hold a known prefix.

Pure bookkeeping: no tensor is touched here. A block holds BLOCK consecutive positions of one sequence.
Only blocks that were filled by prefill, in whole, enter the prefix cache: a position computed by a decode
step may differ in its last bits, and a hit must never change an answer.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import OrderedDict

BLOCK = 16
"""Positions per block, and rows per prefill chunk, so that cached prefixes end where chunks end."""


def prefix_keys(prompt: list[int], image_token: int | None, image_keys: list[bytes], per_image: int) -> list[bytes]:
    """One key per full block of the prompt, each covering everything up to that block's end.

    An image's placeholder tokens look alike, so the digest of its content takes part in the key.
    """
    keys: list[bytes] = []
    parent = b""
    placeholders = 0
    for start in range(0, len(prompt) - BLOCK + 1, BLOCK):
        tokens = prompt[start : start + BLOCK]
        digest = hashlib.blake2b(parent, digest_size=16)
        digest.update(array("q", tokens).tobytes())
        if image_keys:
            for token in tokens:
                if token == image_token:
                    digest.update(image_keys[placeholders // per_image])
                    placeholders += 1
        parent = digest.digest()
        keys.append(parent)
    return keys


class BlockPool:
    """Hands out blocks 1…total; block 0 is scratch space for padding rows and is never handed out.

    A block with no owner is free. It keeps its prefix until it is needed for something else, least
    recently used first, so every free block counts as free whether or not it is remembered.
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self._blank = list(range(total, 0, -1))
        self._remembered: OrderedDict[int, None] = OrderedDict()
        self._owners = [0] * (total + 1)
        self._key_of: dict[int, bytes] = {}
        self._block_of: dict[bytes, int] = {}

    @property
    def free(self) -> int:
        """How many blocks nobody owns."""
        return len(self._blank) + len(self._remembered)

    def match(self, keys: list[bytes]) -> list[int]:
        """The blocks that hold the longest known prefix of `keys`; nothing is acquired."""
        blocks = []
        for key in keys:
            block = self._block_of.get(key)
            if block is None:
                break
            blocks.append(block)
        return blocks

    def acquire(self, shared: list[int], fresh: int) -> list[int] | None:
        """Own the `shared` blocks and `fresh` new ones, in that order; None if too few are free."""
        idle = sum(1 for block in shared if self._owners[block] == 0)
        if fresh > self.free - idle:
            return None
        for block in shared:
            if self._owners[block] == 0:
                del self._remembered[block]
            self._owners[block] += 1
        return shared + [self._take() for _ in range(fresh)]

    def _take(self) -> int:
        if self._blank:
            block = self._blank.pop()
        else:
            block, _ = self._remembered.popitem(last=False)
            del self._block_of[self._key_of.pop(block)]
        self._owners[block] = 1
        return block

    def remember(self, block: int, key: bytes) -> None:
        """Record that an owned block now holds the prefix `key`, unless another block already does."""
        if key not in self._block_of and block not in self._key_of:
            self._block_of[key] = block
            self._key_of[block] = key

    def release(self, blocks: list[int]) -> None:
        """Give up one ownership of each block. A prefix's last block is forgotten before its first."""
        for block in reversed(blocks):
            self._owners[block] -= 1
            if self._owners[block] == 0:
                if block in self._key_of:
                    self._remembered[block] = None
                else:
                    self._blank.append(block)

    def forget(self) -> None:
        """Drop every remembered prefix that nobody owns (the content can no longer be trusted)."""
        for key, block in list(self._block_of.items()):
            del self._block_of[key]
            del self._key_of[block]
        self._blank.extend(self._remembered)
        self._remembered.clear()
