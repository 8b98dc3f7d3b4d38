"""The block pool never hands a block out twice, and forgets a prefix only when it needs the room."""

from hypothesis import given
from hypothesis import strategies as st

from reference_impl.engine.blocks import BLOCK, BlockPool, prefix_keys

IMAGE = 7


def keys(prompt, images=()):
    return prefix_keys(list(prompt), IMAGE, list(images), per_image=16)


def test_keys_cover_full_blocks_and_everything_before_them():
    prompt = list(range(100, 100 + 3 * BLOCK + 5))
    assert len(keys(prompt)) == 3
    other = [99, *prompt[1:]]
    assert all(a != b for a, b in zip(keys(prompt), keys(other), strict=True))
    late = [*prompt[:-6], 99, *prompt[-5:]]
    assert [a == b for a, b in zip(keys(prompt), keys(late), strict=True)] == [True, True, False]


def test_image_content_takes_part_in_the_key():
    prompt = [1, 2, *[IMAGE] * 16, 3, 4, *[IMAGE] * 16, *[5] * 12]
    same, swapped = keys(prompt, [b"cat", b"dog"]), keys(prompt, [b"dog", b"cat"])
    assert keys(prompt, [b"cat", b"dog"]) == same
    assert same[0] != swapped[0]
    changed_second = keys(prompt, [b"cat", b"fox"])
    assert changed_second[0] == same[0]
    assert changed_second[1] != same[1]


def test_shared_prefix_has_two_owners_and_survives_both():
    pool = BlockPool(4)
    prefix = keys(range(2 * BLOCK))
    first = pool.acquire([], 2)
    for block, key in zip(first, prefix, strict=True):
        pool.remember(block, key)
    second = pool.acquire(pool.match(prefix), 1)
    assert second[:2] == first
    assert pool.free == 1
    pool.release(first)
    assert pool.free == 1
    pool.release(second)
    assert pool.free == 4
    assert pool.match(prefix) == first


def test_acquire_takes_nothing_when_it_cannot_take_all():
    pool = BlockPool(3)
    held = pool.acquire([], 2)
    assert pool.acquire([], 2) is None
    assert pool.free == 1
    pool.release(held)
    assert pool.acquire([], 3) is not None


def test_idle_shared_blocks_do_not_count_twice():
    """A remembered block that the request itself wants to share is not also room for its new blocks."""
    pool = BlockPool(2)
    prefix = keys(range(BLOCK))
    held = pool.acquire([], 1)
    pool.remember(held[0], prefix[0])
    pool.release(held)
    assert pool.acquire(pool.match(prefix), 2) is None
    assert pool.acquire(pool.match(prefix), 1) is not None


def test_least_recently_used_prefix_goes_first_and_its_end_before_its_start():
    pool = BlockPool(3)
    long = keys(range(2 * BLOCK))
    short = keys(range(50, 50 + BLOCK))
    blocks = pool.acquire([], 2)
    for block, key in zip(blocks, long, strict=True):
        pool.remember(block, key)
    pool.release(blocks)
    other = pool.acquire([], 1)
    pool.remember(other[0], short[0])
    pool.release(other)
    taken = pool.acquire([], 1)
    assert len(pool.match(long)) == 1
    assert len(pool.match(short)) == 1
    pool.release(taken)


def test_forget_drops_every_prefix():
    pool = BlockPool(2)
    prefix = keys(range(BLOCK))
    held = pool.acquire([], 1)
    pool.remember(held[0], prefix[0])
    pool.forget()
    assert pool.match(prefix) == []
    pool.release(held)
    pool.forget()
    assert pool.free == 2


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 4), st.booleans()), max_size=60))
def test_any_history_keeps_the_books(history):
    """No block has two unrelated owners, and free plus owned is always everything."""
    pool = BlockPool(8)
    prompts = [keys(range(n * 1000, n * 1000 + 4 * BLOCK)) for n in range(6)]
    owned = []
    for which, size, take in history:
        if take:
            shared = pool.match(prompts[which][:size])
            blocks = pool.acquire(shared, size - len(shared))
            if blocks is None:
                continue
            assert len(set(blocks)) == size
            fresh = set(blocks[len(shared) :])
            assert not any(fresh & set(other) for other in owned)
            assert 0 not in blocks
            for block, key in zip(blocks, prompts[which], strict=False):
                pool.remember(block, key)
            owned.append(blocks)
        elif owned:
            pool.release(owned.pop(which % len(owned)))
        assert pool.free + len({block for blocks in owned for block in blocks}) == 8
    for blocks in owned:
        pool.release(blocks)
    assert pool.free == 8
