import { describe, expect, test } from '@jest/globals';
import { costMicrosOf, outputTokensFor, reservationOf, settleUsage } from '../../../../activities/model/usage';
import { messageDelta, modelRequest, PRICES, receive, ROUTE, start, STOP, textEvents } from './fixtures';

const tokens = (inputTokens: number, outputTokens: number, cacheReadTokens = 0, cacheWriteTokens = 0) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens,
  cacheWriteTokens,
});

describe('cost', () => {
  // By hand: tokens × dollars per million = millionths of a dollar.
  test.each([
    [tokens(0, 0), 0],
    [tokens(1_000, 200), 1_000 * 3 + 200 * 15],
    [tokens(10, 0, 1_000, 0), 30 + 300],
    [tokens(0, 0, 0, 100), 375],
    // 0.3 + 3.75 = 4.05 is rounded up once, not part by part.
    [tokens(0, 0, 1, 1), 5],
    // 0.3 × 10 is 3, whatever binary fractions make of it.
    [tokens(0, 0, 10, 0), 3],
    [tokens(1_000_000_000, 1_000_000_000), 18_000_000_000],
  ])('%j costs %d micros', (used, micros) => {
    expect(costMicrosOf(used, PRICES)).toBe(micros);
  });

  test('a price of a tenth of a cent per million counts', () => {
    const prices = { ...PRICES, inputPerMillion: 0.001 };

    expect(costMicrosOf(tokens(1_000, 0), prices)).toBe(1);
    expect(costMicrosOf(tokens(1_001, 0), prices)).toBe(2);
  });
});

describe('figures', () => {
  const text = textEvents(0, 'All done.');
  const settled = (atStart: object, ...deltas: readonly object[]) =>
    settleUsage(
      receive(
        start(atStart),
        ...text,
        ...deltas.map((usage, index) => messageDelta(index === deltas.length - 1 ? 'end_turn' : null, usage)),
        STOP,
      ),
      modelRequest(),
    );

  test('cache figures at the start only', () => {
    expect(
      settled(
        { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: 50, cache_creation_input_tokens: 20 },
        { output_tokens: 30 },
      ),
    ).toEqual({ ...tokens(100, 30, 50, 20), costMicros: 300 + 450 + 15 + 75, isEstimate: false });
  });

  test('cache figures at the end only', () => {
    expect(
      settled(
        { input_tokens: 100, output_tokens: 1, cache_read_input_tokens: null, cache_creation_input_tokens: null },
        { output_tokens: 30, input_tokens: 100, cache_read_input_tokens: 50, cache_creation_input_tokens: 20 },
      ),
    ).toEqual({ ...tokens(100, 30, 50, 20), costMicros: 840, isEstimate: false });
  });

  test('the same figures twice are not added', () => {
    const cache = { input_tokens: 100, cache_read_input_tokens: 50, cache_creation_input_tokens: 20 };

    expect(settled({ ...cache, output_tokens: 1 }, { ...cache, output_tokens: 30 })).toMatchObject(
      tokens(100, 30, 50, 20),
    );
  });

  test('the later figure counts', () => {
    expect(
      settled(
        { input_tokens: 80, output_tokens: 1, cache_read_input_tokens: 25 },
        { input_tokens: 100, output_tokens: 30, cache_read_input_tokens: 50 },
      ),
    ).toMatchObject(tokens(100, 30, 50));
  });

  test('output that grows over several events is not added', () => {
    expect(
      settled({ input_tokens: 100, output_tokens: 1 }, { output_tokens: 10 }, { output_tokens: 30 }),
    ).toMatchObject({ outputTokens: 30, isEstimate: false });
  });

  test('none at all: an estimate that says so', () => {
    // 9 bytes of text, three to a token; the input as the request estimated it.
    expect(settled({}, {})).toEqual({ ...tokens(400, 3), costMicros: 1_200 + 45, isEstimate: true });
  });

  test.each([[-1], [1.5], ['100'], [null], [Number.NaN]])('%j is no figure', (figure) => {
    expect(settled({ input_tokens: figure, output_tokens: 1 }, { output_tokens: 30 })).toMatchObject({
      inputTokens: 400,
      outputTokens: 30,
      isEstimate: true,
    });
  });

  test('a stream without its end: input as told, output by what came', () => {
    const cut = receive(start({ input_tokens: 100, output_tokens: 1 }), ...textEvents(0, 'x'.repeat(300)));

    expect(settleUsage(cut, modelRequest())).toEqual({
      ...tokens(100, 100),
      costMicros: 300 + 1_500,
      isEstimate: true,
    });
  });

  test('a stream cut between its last figures and its end has its figures', () => {
    const cut = receive(
      start({ input_tokens: 100, output_tokens: 1 }),
      ...textEvents(0, 'x'.repeat(300)),
      messageDelta('end_turn', { output_tokens: 70 }),
    );

    expect(settleUsage(cut, modelRequest())).toMatchObject({ outputTokens: 70, isEstimate: false });
  });

  test('before the stream began nothing is known but the request', () => {
    expect(settleUsage(receive(), modelRequest())).toEqual({ ...tokens(400, 0), costMicros: 1_200, isEstimate: true });
  });
});

describe('reservation', () => {
  test('is the input at its dearest and all of the output', () => {
    expect(reservationOf(modelRequest(), 1_000)).toEqual({
      ...tokens(400, 1_000),
      costMicros: 400 * 3.75 + 1_000 * 15,
      isEstimate: true,
    });
  });

  test.each([
    [16_500, 1_000],
    [16_499, 999],
    [1_500, 0],
    [1_499, -1],
  ])('%d micros leave room for %d output tokens', (micros, room) => {
    expect(outputTokensFor(modelRequest(), micros)).toBe(room);
  });

  test('output that costs nothing has no limit by cost', () => {
    const free = modelRequest({ route: { ...ROUTE, prices: { ...PRICES, outputPerMillion: 0 } } });

    expect(outputTokensFor(free, 1_500)).toBe(Number.MAX_SAFE_INTEGER);
    expect(outputTokensFor(free, 1_499)).toBeLessThan(0);
  });
});
