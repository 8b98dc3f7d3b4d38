"""The engine as its callers see it: what comes back, what is refused, and what a cancellation frees."""

import asyncio
import random

import pytest
import torch

from reference_impl.engine import Engine, EngineFailure, PromptTooLong, QueueFull
from reference_impl.engine.blocks import BLOCK
from reference_impl.engine.grammar import grammar_for_schema
from reference_impl.engine.step import Stepper
from reference_impl.model.transformer import causal_attention

PROMPT = list(range(20, 75))
EVERYTHING = 10_000


def run(model, scenario, **options):
    """Run `scenario(engine)` with a started engine; all blocks must be free again afterwards."""

    async def main():
        async with Engine(model, **{"context": 512, "max_batch": 4, **options}) as engine:
            result = await asyncio.wait_for(scenario(engine), 60)
            await until_idle(engine)
            stats = engine.stats()
            assert (stats.running, stats.waiting) == (0, 0)
            assert stats.blocks_free == stats.blocks_total
            return result

    return asyncio.run(main())


async def until_idle(engine):
    while engine.stats().running or engine.stats().waiting:
        await asyncio.sleep(0.001)


async def collect(generation):
    return [token async for token in generation]


def greedy_by_hand(model, prompt, count):
    """The plain way: the whole sequence again for every token, without cache, chunks or batch."""
    ids = list(prompt)
    for _ in range(count):
        x = model.transformer.embed(torch.tensor([ids]))
        hidden = model.transformer(x, torch.arange(len(ids))[None], causal_attention)
        ids.append(int(model.transformer.logits(hidden[0, -1]).argmax()))
    return ids[len(prompt) :]


@pytest.mark.parametrize("length", [1, 15, 16, 17, 55])
def test_greedy_tokens_are_the_model_s_own(model, ask, length):
    """Paging, chunks and padding change nothing: the tokens are those of a plain forward pass."""

    async def scenario(engine):
        return await collect(engine.submit(ask(PROMPT[:length], max_tokens=24)))

    assert run(model, scenario) == greedy_by_hand(model, PROMPT[:length], 24)


def test_counts_and_finish_by_length(model, ask):
    async def scenario(engine):
        generation = engine.submit(ask(PROMPT, max_tokens=5))
        tokens = await collect(generation)
        assert (len(tokens), generation.finish) == (5, "length")
        assert (generation.prompt_tokens, generation.completion_tokens) == (len(PROMPT), 5)
        assert generation.cached_tokens == 0

    run(model, scenario)


def test_end_token_ends_and_is_counted_but_not_yielded(model, ask):
    async def scenario(engine):
        free = await collect(engine.submit(ask(PROMPT, max_tokens=6)))
        end = free[3]
        before = free[: free.index(end)]
        generation = engine.submit(ask(PROMPT, max_tokens=6, eos_ids=frozenset({end})))
        assert await collect(generation) == before
        assert generation.finish == "eos"
        assert generation.completion_tokens == len(before) + 1

    run(model, scenario)


def test_min_tokens_postpones_the_end(model, ask):
    async def scenario(engine):
        free = await collect(engine.submit(ask(PROMPT, max_tokens=6)))
        held = engine.submit(ask(PROMPT, max_tokens=6, eos_ids=frozenset(free[:1]), min_tokens=4))
        tokens = await collect(held)
        assert len(tokens) >= 4
        assert free[0] not in tokens[:4]

    run(model, scenario)


def test_context_bounds_the_generation(model, ask):
    async def scenario(engine):
        generation = engine.submit(ask([5] * (engine.context - 3), max_tokens=EVERYTHING))
        assert len(await collect(generation)) == 3
        assert generation.finish == "length"

    run(model, scenario)


def test_prompt_too_long(model, ask):
    async def scenario(engine):
        with pytest.raises(PromptTooLong) as refusal:
            engine.submit(ask([5] * engine.context))
        assert (refusal.value.tokens, refusal.value.limit) == (engine.context, engine.context - 1)

    run(model, scenario)


def test_invalid_requests_are_refused(model, ask):
    async def scenario(engine):
        for request in (
            ask([]),
            ask([5], max_tokens=0),
            ask([model.config.vocab_size]),
            ask([-1]),
            ask([5], images=[torch.zeros(3, 64, 64)]),
        ):
            with pytest.raises(ValueError, match=r"."):
                engine.submit(request)

    run(model, scenario)


def test_queue_full(model, ask):
    async def scenario(engine):
        accepted = [engine.submit(ask(PROMPT, max_tokens=30)) for _ in range(4 + 2)]
        with pytest.raises(QueueFull):
            engine.submit(ask(PROMPT))
        assert [len(await collect(generation)) for generation in accepted] == [30] * 6
        assert len(await collect(engine.submit(ask(PROMPT)))) == 8

    run(model, scenario, max_queue=2)


def test_more_requests_than_blocks_wait_and_all_finish(model, ask):
    async def scenario(engine):
        generations = [engine.submit(ask([n, *PROMPT], max_tokens=40)) for n in range(12)]
        assert [len(await collect(generation)) for generation in generations] == [40] * 12

    run(model, scenario, cache_blocks=2 * -(-(len(PROMPT) + 41) // BLOCK), context=160)


async def steps_until(engine, condition):
    began = engine.stats().steps
    while not condition():
        await asyncio.sleep(0)
    return engine.stats().steps - began


def test_cancelling_a_running_generation_frees_its_blocks_within_one_step(model, ask):
    async def scenario(engine):
        generation = engine.submit(ask(PROMPT, max_tokens=EVERYTHING))
        await anext(generation)
        stats = engine.stats()
        assert stats.blocks_free < stats.blocks_total
        generation.cancel()
        # One step may be under way when the call comes; the next one frees.
        assert await steps_until(engine, lambda: engine.stats().running == 0) <= 2
        assert engine.stats().blocks_free == stats.blocks_total
        await collect(generation)
        assert generation.finish == "cancelled"
        generation.cancel()

    run(model, scenario)


def test_cancelling_a_waiting_generation_removes_it(model, ask):
    async def scenario(engine):
        running = [engine.submit(ask(PROMPT, max_tokens=EVERYTHING)) for _ in range(4)]
        for generation in running:
            await anext(generation)
        waiting = engine.submit(ask(PROMPT))
        waiting.cancel()
        assert await collect(waiting) == []
        assert waiting.finish == "cancelled"
        assert engine.stats().running == 4
        for generation in running:
            generation.cancel()

    run(model, scenario)


def test_sixty_four_generations_a_third_of_which_hang_up(model, ask):
    """Every answer that is read to its end is its asker's, and all blocks are free afterwards."""
    choice = random.Random(1)

    async def scenario(engine):
        prompts = [[choice.randrange(12, 1000) for _ in range(choice.randrange(1, 90))] for _ in range(64)]
        alone = [await collect(engine.submit(ask(prompt, max_tokens=20))) for prompt in prompts]

        async def client(prompt, hang_up_after):
            generation = engine.submit(ask(prompt, max_tokens=20))
            tokens = []
            try:
                if hang_up_after == 0:
                    return None
                async for token in generation:
                    tokens.append(token)
                    if len(tokens) == hang_up_after:
                        return None
            finally:
                generation.cancel()
            return tokens

        hang_ups = [choice.randrange(0, 20) if n % 3 == 0 else None for n in range(64)]
        answers = await asyncio.gather(*map(client, prompts, hang_ups))
        for mine, answer, hang_up in zip(alone, answers, hang_ups, strict=True):
            assert answer == (mine if hang_up is None else None)

    run(model, scenario, max_batch=16)


def test_a_long_prompt_does_not_starve_a_short_one(model, ask):
    async def scenario(engine):
        long = engine.submit(ask([n % 900 + 20 for n in range(480)], max_tokens=4))
        short = engine.submit(ask(PROMPT[:20], max_tokens=4))
        finished = []

        async def read(name, generation):
            await collect(generation)
            finished.append(name)

        await asyncio.gather(read("long", long), read("short", short))
        assert finished == ["short", "long"]

    run(model, scenario, prefill_chunks=4)


def test_a_failing_step_ends_its_requests_and_the_engine_goes_on(model, ask, monkeypatch):
    async def scenario(engine):
        healthy = await collect(engine.submit(ask(PROMPT)))
        with monkeypatch.context() as patch:

            def broken(self, changed):
                raise RuntimeError("planted")

            patch.setattr(Stepper, "_write_tokens", broken)
            with pytest.raises(EngineFailure):
                await collect(engine.submit(ask(PROMPT)))
        again = engine.submit(ask(PROMPT))
        assert await collect(again) == healthy
        assert again.cached_tokens == 0  # nothing that the failure may have touched is trusted

    run(model, scenario)


def test_stop_ends_unfinished_generations(model, ask):
    async def main():
        engine = Engine(model, context=512)
        await engine.start()
        generation = engine.submit(ask(PROMPT, max_tokens=EVERYTHING))
        await anext(generation)
        await engine.stop()
        await collect(generation)
        assert generation.finish == "cancelled"
        with pytest.raises(RuntimeError):
            engine.submit(ask(PROMPT))

    asyncio.run(main())


def test_the_event_loop_is_never_blocked(model, ask):
    """While the engine works, the loop keeps turning between any two tokens."""

    async def scenario(engine):
        turns = 0

        async def count():
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counter = asyncio.create_task(count())
        await collect(engine.submit(ask(PROMPT, max_tokens=50)))
        counter.cancel()
        assert turns > 50

    run(model, scenario)


def test_grammar_is_obeyed_and_ends_the_generation(model, ask):
    async def scenario(engine):
        grammar = grammar_for_schema({"enum": ["yes", "no"]})
        for seed in range(4):
            generation = engine.submit(
                ask(PROMPT, max_tokens=50, grammar=grammar, temperature=1.0, seed=seed, eos_ids=model.eos_ids)
            )
            text = model.tokenizer.decode(await collect(generation))
            assert text in ('"yes"', '"no"')
            assert generation.finish == "eos"

    run(model, scenario)


def test_broken_grammar_fails_only_its_own_request(model, ask):
    async def scenario(engine):
        with pytest.raises(EngineFailure):
            await collect(engine.submit(ask(PROMPT, grammar="start: nonsense")))
        assert len(await collect(engine.submit(ask(PROMPT)))) == 8

    run(model, scenario)
