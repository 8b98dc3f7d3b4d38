"""Runs the model over prefill chunks and decode rows, in shapes whose results do not depend on company.

A row's result may depend on how many rows are computed with it, because kernels are chosen by shape. The
runner tries at start which row counts and attention widths give bit-equal rows for this model, this device
and this number of threads, and uses only those (others are padded up); see `_equal_sizes`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import torch
from torch import Tensor

from reference_impl.engine.blocks import BLOCK
from reference_impl.engine.cache import DecodeAttention, KeyValueCache, PrefillAttention
from reference_impl.engine.graphs import DecodeGraphs
from reference_impl.model.checkpoint import LoadedModel

_SMALLEST_WIDTH = 2 * BLOCK


@dataclass(slots=True)
class Chunk:
    """BLOCK positions (fewer at a prompt's end) of one sequence, starting at a multiple of BLOCK.

    blocks: the sequence's block table. features: image vectors [n, D] for the offsets in `feature_at`.
    """

    tokens: list[int]
    start: int
    blocks: list[int]
    owner: int
    feature_at: list[int] = field(default_factory=list)
    features: Tensor | None = None


@dataclass(slots=True)
class Row:
    """One decode position: the last token, its position and the sequence's block table."""

    token: int
    position: int
    blocks: list[int]


def powers_of_two(limit: int) -> list[int]:
    """1, 2, 4, … and `limit` itself."""
    sizes = [1]
    while sizes[-1] * 2 < limit:
        sizes.append(sizes[-1] * 2)
    return sizes if limit == 1 else [*sizes, limit]


def attention_widths(context: int) -> list[int]:
    """32, 48, 64, …, 128, 160, …: how many positions a step may attend to, four between powers of two.

    They are whole blocks, and the last is the first that holds `context`.
    """
    widths = [_SMALLEST_WIDTH]
    while (last := widths[-1]) < context:
        widths.append(last + max(BLOCK, 1 << last.bit_length() - 3))
    return widths


class Runner:
    """The model, its cache, and the row counts and widths in use.

    max_rows: most sequences in a decode step. max_chunks: most chunks in a prefill pass.
    blocks: blocks of the cache. deterministic False uses every size without checking. shares: how many
    processes split the model's heads between them (see `parallel.py`).
    """

    def __init__(
        self,
        model: LoadedModel,
        *,
        max_rows: int,
        max_chunks: int,
        blocks: int,
        context: int,
        deterministic: bool,
        shares: int = 1,
    ) -> None:
        self.model = model
        config = model.config
        weight = model.transformer.embed_tokens.weight
        self.device, self.dtype = weight.device, weight.dtype
        self.groups = config.heads // config.kv_heads
        self.cache = KeyValueCache(
            layers=config.layers,
            kv_heads=config.kv_heads // shares,
            head_dim=config.head_dim,
            blocks=max(blocks, max_rows, max_chunks),  # the check below gives each row a block
            device=self.device,
            dtype=self.dtype,
        )
        self._graphs = DecodeGraphs(self.decode_forward) if self.device.type == "cuda" else None
        self.widths = attention_widths(context)
        edge = torch.zeros(2 * self.widths[-1], dtype=self.dtype, device=self.device)
        edge[self.widths[-1] :] = float("-inf")
        self._masks = {width: edge.unfold(0, width, 1) for width in self.widths}  # views
        self.row_sizes = powers_of_two(max_rows)
        self.chunk_sizes = powers_of_two(max_chunks)
        if deterministic:
            self._keep_equal_sizes()

    @torch.inference_mode()
    def decode(self, rows: list[Row]) -> Tensor:
        """Logits Float[len(rows), V] of the token after each row."""
        size = next(size for size in self.row_sizes if size >= len(rows))
        width = self._width(max(row.position for row in rows) + 1)
        return self._decode(rows, size, width)[: len(rows)]

    @torch.inference_mode()
    def prefill(self, chunks: list[Chunk], wanted: list[tuple[int, int]]) -> Tensor:
        """Compute the chunks; logits Float[len(wanted), V] after the (chunk, offset) places in `wanted`.

        There are at most `max_chunks` chunks and `max_rows` places.
        """
        size = next(size for size in self.chunk_sizes if size >= len(chunks))
        hidden = self._prefill(chunks, size)
        if not wanted:
            return hidden.new_empty(0)
        places = torch.tensor([chunk * BLOCK + offset for chunk, offset in wanted], device=self.device)
        picked = hidden.view(-1, hidden.shape[-1]).index_select(0, places)
        rows = next(size for size in self.row_sizes if size >= len(wanted))
        return self._logits(picked, rows)[: len(wanted)]

    @torch.inference_mode()
    def encode_image(self, pixels: Tensor) -> Tensor:
        """[3,64,64] -> [16,D]; one image at a time, so that its vectors never depend on another's."""
        assert self.model.vision is not None
        features: Tensor = self.model.vision(pixels[None].to(self.device, self.dtype))[0]
        return features

    def _width(self, length: int) -> int:
        return next(width for width in self.widths if width >= length)

    def _logits(self, hidden: Tensor, size: int) -> Tensor:
        if len(hidden) < size:
            hidden = torch.cat((hidden, hidden.new_zeros(size - len(hidden), hidden.shape[1])))
        return self.model.transformer.logits(hidden)

    def _mask(self, positions: Tensor, width: int) -> Tensor:
        """[n] -> [n,width]: 0 in the columns up to its position, else -inf; in the model's type, as SDPA wants it."""
        return self._masks[width].index_select(0, self.widths[-1] - 1 - positions)

    def _decode(self, rows: list[Row], size: int, width: int) -> Tensor:
        inputs = self._decode_inputs(rows, size, width)
        if self._graphs is not None:
            return self._graphs.run(inputs, size, width)
        return self.decode_forward(inputs.to(self.device), size, width)

    @staticmethod
    def _decode_inputs(rows: list[Row], size: int, width: int) -> Tensor:
        """Tokens, positions, slots (`size` each) and block tables (`size * width / BLOCK`) in one Long vector."""
        padding = [0] * (size - len(rows))
        blank = [0] * (width // BLOCK)
        tables: list[int] = []
        slots = []
        for row in rows:
            count = row.position // BLOCK + 1
            tables += row.blocks[:count]
            tables += blank[count:]
            slots.append(row.blocks[count - 1] * BLOCK + row.position % BLOCK)
        numbers = [row.token for row in rows] + padding
        numbers += [row.position for row in rows] + padding + slots + padding
        return torch.tensor(numbers + tables + blank * len(padding))

    def decode_forward(self, inputs: Tensor, size: int, width: int) -> Tensor:
        """Logits Float[size, V] for the vector that `_decode_inputs` lays out, on the model's device."""
        tokens, positions, slots = inputs[: 3 * size].view(3, size).unbind()
        mask = self._mask(positions, width)[:, None, None].expand(-1, -1, self.groups, -1)
        attention = DecodeAttention(self.cache, slots, inputs[3 * size :], mask)
        transformer = self.model.transformer
        hidden = transformer(transformer.embed(tokens[:, None]), positions[:, None], attention)
        return transformer.logits(hidden[:, 0])

    def _prefill(self, chunks: list[Chunk], size: int) -> Tensor:
        tokens = torch.zeros(size, BLOCK, dtype=torch.long)
        starts = torch.zeros(size, dtype=torch.long)
        slots = torch.zeros(size, BLOCK, dtype=torch.long)
        offsets = torch.arange(BLOCK)
        for index, chunk in enumerate(chunks):
            tokens[index, : len(chunk.tokens)] = torch.tensor(chunk.tokens)
            starts[index] = chunk.start
            # The rest of a prompt's last block is written too; decode overwrites it before it is visible.
            slots[index] = chunk.blocks[chunk.start // BLOCK] * BLOCK + offsets
        positions = (starts[:, None] + offsets).to(self.device)
        x = self.model.transformer.embed(tokens.to(self.device))
        for index, chunk in enumerate(chunks):
            if chunk.features is not None:
                x[index, torch.tensor(chunk.feature_at, dtype=torch.long, device=self.device)] = chunk.features
        attention = PrefillAttention(self.cache, slots.flatten().to(self.device), self._runs(chunks, size, positions))
        hidden: Tensor = self.model.transformer(x, positions, attention)
        return hidden

    def _runs(self, chunks: list[Chunk], size: int, positions: Tensor) -> list[tuple[int, int, Tensor, Tensor]]:
        bounds = [i for i, chunk in enumerate(chunks) if i == 0 or chunk.owner != chunks[i - 1].owner]
        bounds += [len(chunks)] + ([size] if size > len(chunks) else [])
        runs = []
        for first, past in pairwise(bounds):
            real = first < len(chunks)
            width = self._width(chunks[past - 1].start + BLOCK) if real else self.widths[0]
            count = chunks[past - 1].start // BLOCK + 1 if real else 0
            table = (chunks[first].blocks[:count] if real else []) + [0] * (width // BLOCK - count)
            mask = self._mask(positions[first:past].flatten(), width).view(past - first, 1, -1, width)
            mask = mask.repeat(1, 1, self.groups, 1)
            runs.append((first, past, torch.tensor(table, device=self.device), mask))
        return runs

    @torch.inference_mode()
    def _keep_equal_sizes(self) -> None:
        """Keep the row counts and widths whose rows equal, bit for bit, those of the largest row count."""
        generator = torch.Generator().manual_seed(0)
        vocabulary = self.model.config.vocab_size

        def draw(count: int) -> list[int]:
            return torch.randint(vocabulary, (count,), generator=generator).tolist()

        # Each row and chunk has a block of its own; what the blocks hold afterwards belongs to no prefix.
        chunks = [Chunk(draw(BLOCK), 0, [i + 1], i) for i in range(self.chunk_sizes[-1])]
        whole = self._prefill(chunks, len(chunks))
        self.chunk_sizes = [n for n in self.chunk_sizes if torch.equal(self._prefill(chunks[:n], n), whole[:n])]
        rows = [Row(token, BLOCK - 1, [i + 1]) for i, token in enumerate(draw(self.row_sizes[-1]))]
        narrow = self._decode(rows, len(rows), self.widths[0])
        self.row_sizes = [
            n for n in self.row_sizes if torch.equal(self._decode(rows[:n], n, self.widths[0]), narrow[:n])
        ]
        few = self.row_sizes[0]
        widest = self._decode(rows[:few], few, self.widths[-1])
        self.widths = [w for w in self.widths if torch.equal(self._decode(rows[:few], few, w), widest)]
