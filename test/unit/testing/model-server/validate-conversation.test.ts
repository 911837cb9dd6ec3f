import { describe, expect, test } from '@jest/globals';
import { SentBlocks, redactedDataFor, signThinking } from '../../../../testing/model-server/sent-blocks';
import { USER, assistant, conversation, judge, refused, result, text, use, user } from './requests';

describe('pairing', () => {
  const missing = (index: number, ids: string) =>
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. ` +
    'Each `tool_use` block must have a corresponding `tool_result` block in the next message.';
  const unexpected = (where: string, id: string) =>
    `${where}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ` +
    'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.';

  test.each<[string, unknown, string]>([
    ['no result', conversation(assistant(use('t1')), USER), missing(1, 't1')],
    ['no message after the call', conversation(assistant(use('t1'))), missing(1, 't1')],
    ['one of two results', conversation(assistant(use('t1'), use('t2')), user(result('t2'))), missing(1, 't1')],
    ['text before the result', conversation(assistant(use('t1')), user(text('Here:'), result('t1'))), missing(1, 't1')],
    [
      'results over two messages',
      conversation(assistant(use('t1'), use('t2')), user(result('t1')), user(result('t2'))),
      missing(1, 't2'),
    ],
    ['a result for nobody', conversation(user(result('t9'))), unexpected('messages.1.content.0', 't9')],
    [
      'a result one turn late',
      conversation(assistant(use('t1')), user(result('t1')), assistant(text('Hm.')), user(result('t1'))),
      unexpected('messages.4.content.0', 't1'),
    ],
    [
      'a second result',
      conversation(assistant(use('t1')), user(result('t1'), result('t1'))),
      'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: t1',
    ],
    [
      'one id twice in a turn',
      conversation(assistant(use('t1'), use('t1')), user(result('t1'))),
      'messages: `tool_use` ids must be unique',
    ],
    [
      'one id in two turns',
      conversation(assistant(use('t1')), user(result('t1')), assistant(use('t1')), user(result('t1'))),
      'messages: `tool_use` ids must be unique',
    ],
    [
      'results in another order',
      conversation(assistant(use('t1'), use('t2')), user(result('t2'), result('t1'))),
      'messages.2: `tool_result` blocks must stand in the order of their `tool_use` blocks: expected t1, t2, found t2, t1',
    ],
  ])('%s is refused', (_title, body, message) => {
    expect(judge(body)).toEqual(refused(message));
  });

  test('another order is accepted where the limit is switched off, as the provider does', () => {
    const body = conversation(assistant(use('t1'), use('t2')), user(result('t2'), result('t1')));

    expect(judge(body, { limits: { resultsInCallOrder: false } })).toBe('accepted');
  });
});

describe('thinking', () => {
  const thought = { type: 'thinking', thinking: 'The rota says Payments.', signature: 'sig-1' } as const;
  const secret = { type: 'redacted_thinking', data: 'opaque-1' } as const;
  const call = { type: 'tool_use', id: 't1', name: 'read_ticket', input: {} } as const;
  const sentBefore = () => {
    const sent = new SentBlocks();
    sent.remember([thought, secret, call]);
    return sent;
  };
  const turn = (...blocks: readonly object[]) => conversation(assistant(...blocks), user(result('t1')));
  const later = (...blocks: readonly object[]) =>
    conversation(assistant(...blocks), user(result('t1')), assistant(text('Done.')), USER);
  const modified = 'cannot be modified. These blocks must remain as they were in the original response.';

  test.each<[string, unknown]>([
    ['as it was sent', turn(thought, secret, call)],
    ['left out whole in an older turn', later(call)],
    ['in an older turn as it was sent', later(thought, secret, call)],
  ])('%s is accepted', (_title, body) => {
    expect(judge(body, { sent: sentBefore() })).toBe('accepted');
  });

  test('signed by the server is accepted after a restart, altered it is not', () => {
    const own = { type: 'thinking', thinking: 'Hm.', signature: signThinking('Hm.') };
    const redacted = { type: 'redacted_thinking', data: redactedDataFor('1') };

    expect(judge(turn(own, redacted, call))).toBe('accepted');
    expect(judge(turn({ ...own, thinking: 'Hm!' }, call))).toEqual(refused(expect.stringContaining(modified)));
    expect(judge(turn({ ...redacted, data: redactedDataFor('1').replace('.', '=.') }, call))).toEqual(
      refused('messages.1.content.0: Invalid `data` in `redacted_thinking` block'),
    );
  });

  test.each<[string, unknown, string]>([
    [
      'with other text',
      turn({ ...thought, thinking: 'The rota says Legal.' }, secret, call),
      `messages.1.content.0: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message ${modified}`,
    ],
    [
      'with other text in an older turn',
      later({ ...thought, thinking: 'x' }, secret, call),
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    ],
    [
      'with an unknown signature',
      turn({ ...thought, signature: 'sig-2' }, secret, call),
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    ],
    [
      'with an empty signature',
      turn({ ...thought, signature: '' }, secret, call),
      'messages.1.content.0: Invalid `signature` in `thinking` block',
    ],
    [
      'with other data',
      turn(thought, { ...secret, data: 'opaque-2' }, call),
      'messages.1.content.1: Invalid `data` in `redacted_thinking` block',
    ],
    [
      'in another order',
      turn(secret, thought, call),
      `messages.1.content.0: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message ${modified}`,
    ],
    [
      'with one of two blocks gone',
      turn(thought, call),
      `messages.1.content.0: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message ${modified}`,
    ],
    [
      'at the end',
      conversation(assistant(text('Hm.'), thought), USER),
      'messages.1: The final block in an assistant message cannot be `thinking`.',
    ],
  ])('%s is refused', (_title, body, message) => {
    expect(judge(body, { sent: sentBefore() })).toEqual(refused(message));
  });

  test('left out of the latest turn with tool use is refused', () => {
    expect(judge(turn(call), { sent: sentBefore() })).toEqual(
      refused(
        expect.stringMatching(
          /^messages\.1\.content\.0\.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`/,
        ),
      ),
    );
  });
});
