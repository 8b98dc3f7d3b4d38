"""The same request gives the same tokens, alone or in company, with a cold cache or a warm one."""

import asyncio
import random

import pytest
import torch

from reference_impl.engine import Engine
from reference_impl.engine.blocks import BLOCK

WAYS = {
    "greedy": {"temperature": 0.0},
    "seeded": {"temperature": 1.0, "seed": 11},
    "nucleus": {"temperature": 1.3, "top_p": 0.8, "seed": 12},
    "penalised": {"temperature": 0.7, "seed": 13, "presence_penalty": 1.5, "frequency_penalty": 0.5},
}


def draw_prompt(choice, length):
    return [choice.randrange(12, 1000) for _ in range(length)]


def with_engine(model, scenario, **options):
    async def main():
        async with Engine(model, context=512, **options) as engine:
            return await asyncio.wait_for(scenario(engine), 300)

    return asyncio.run(main())


async def collect(generation):
    return [token async for token in generation]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_company_changes_nothing(model, ask, way, threads):
    """Each request of a crowd of mixed lengths, settings and arrival times equals its own lonely run."""
    choice = random.Random(3)
    # Two threads crawl where other processes want the cores too: every product ends in a barrier.
    count, tokens = (20, 25) if threads == 1 else (5, 6)
    prompts = [draw_prompt(choice, choice.randrange(1, 130)) for _ in range(count)]
    others = [draw_prompt(choice, choice.randrange(1, 130)) for _ in range(count)]

    async def scenario(engine):
        alone = [await collect(engine.submit(ask(prompt, max_tokens=tokens, **WAYS[way]))) for prompt in prompts]

        async def arrive(prompt, settings):
            await asyncio.sleep(choice.random() * 0.05)
            return await collect(engine.submit(ask(prompt, max_tokens=tokens, **settings)))

        company = [arrive(prompt, choice.choice(list(WAYS.values()))) for prompt in others]
        crowd = await asyncio.gather(*(arrive(prompt, WAYS[way]) for prompt in prompts), *company)
        return alone, list(crowd[: len(prompts)])

    alone, crowd = with_engine(model, scenario, threads=threads)
    assert crowd == alone


@pytest.mark.parametrize("way", WAYS)
def test_cache_hit_changes_nothing_and_is_counted_exactly(model, ask, way):
    choice = random.Random(4)
    start = draw_prompt(choice, 5 * BLOCK + 3)

    async def main():
        async with Engine(model, context=512) as warm_engine:
            await collect(warm_engine.submit(ask(start, max_tokens=1)))
            for length, cached in ((5 * BLOCK + 3, 5), (5 * BLOCK, 4), (5 * BLOCK - 1, 4), (BLOCK, 0), (3, 0)):
                async with Engine(model, context=512) as cold_engine:
                    cold = cold_engine.submit(ask(start[:length], max_tokens=30, **WAYS[way]))
                    expected = await collect(cold)
                warm = warm_engine.submit(ask(start[:length], max_tokens=30, **WAYS[way]))
                assert await collect(warm) == expected
                assert (cold.cached_tokens, warm.cached_tokens) == (0, cached * BLOCK)

    asyncio.run(main())


def test_a_restarted_engine_remembers_nothing(model, ask):
    prompt = draw_prompt(random.Random(9), 3 * BLOCK)

    async def main():
        engine = Engine(model, context=512)
        answers = []
        for _ in range(2):
            await engine.start()
            generation = engine.submit(ask(prompt))
            answers.append((await collect(generation), generation.cached_tokens))
            await engine.stop()
        assert answers[0] == answers[1]
        assert answers[1][1] == 0

    asyncio.run(main())


def test_prefix_with_another_ending_is_shared_up_to_the_last_common_block(model, ask):
    choice = random.Random(5)
    start = draw_prompt(choice, 3 * BLOCK + 9)

    async def scenario(engine):
        await collect(engine.submit(ask(start + draw_prompt(choice, 40))))
        second = engine.submit(ask(start + draw_prompt(choice, 40)))
        await collect(second)
        assert second.cached_tokens == 3 * BLOCK

    with_engine(model, scenario)


def test_generated_tokens_do_not_enter_the_prefix_cache(model, ask):
    """They were computed by decode steps, and a hit on them could differ from computing them by prefill."""
    prompt = draw_prompt(random.Random(6), 2 * BLOCK)

    async def scenario(engine):
        answer = await collect(engine.submit(ask(prompt, max_tokens=3 * BLOCK)))
        follow_up = engine.submit(ask(prompt + answer + [50]))
        await collect(follow_up)
        assert follow_up.cached_tokens == 2 * BLOCK

    with_engine(model, scenario)


def test_images_are_told_apart_by_content(model, ask):
    if model.image_token_id is None:
        pytest.fail("the built-in model reads images")
    red, blue = torch.zeros(3, 64, 64), torch.zeros(3, 64, 64)
    red[0], blue[2] = 1.0, 1.0
    prompt = [30, 31, *[model.image_token_id] * 16, *range(40, 80)]

    async def scenario(engine):
        first = engine.submit(ask(prompt, images=[red], max_tokens=12))
        answer = await collect(first)
        again = engine.submit(ask(prompt, images=[red.clone()], max_tokens=12))
        assert await collect(again) == answer
        other = engine.submit(ask(prompt, images=[blue], max_tokens=12))
        await collect(other)
        text_only = engine.submit(ask(prompt, max_tokens=12))
        await collect(text_only)
        counts = [generation.cached_tokens for generation in (first, again, other, text_only)]
        assert counts == [0, 3 * BLOCK, 0, 0]

    with_engine(model, scenario)


def test_seeds_reproduce_and_differ(model, ask):
    prompt = draw_prompt(random.Random(7), 20)

    async def scenario(engine):
        runs = {
            seed: [await collect(engine.submit(ask(prompt, temperature=1.0, seed=seed))) for _ in range(2)]
            for seed in (0, 1, -5, 2**70)
        }
        assert all(first == second for first, second in runs.values())
        assert len({tuple(first) for first, _ in runs.values()}) == 4
        unseeded = [await collect(engine.submit(ask(prompt, temperature=1.0))) for _ in range(2)]
        assert unseeded[0] != unseeded[1]

    with_engine(model, scenario)


def test_eviction_changes_nothing(model, ask):
    """A cache too small for all prompts forgets and computes again, with the same tokens."""
    choice = random.Random(8)
    prompts = [draw_prompt(choice, 100) for _ in range(6)]

    async def scenario(engine):
        rounds = []
        for _ in range(3):
            generations = [engine.submit(ask(prompt, max_tokens=10)) for prompt in prompts]
            rounds.append([await collect(generation) for generation in generations])
        assert rounds[0] == rounds[1] == rounds[2]

    with_engine(model, scenario, cache_blocks=16)
