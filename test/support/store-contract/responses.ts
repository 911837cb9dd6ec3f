import { describe, expect, test } from '@jest/globals';
import type { NewResponse, ResponseCase, ResponseJudgement } from '../../../store/rows';
import type { Store } from '../../../store/store';
import { evidenceIdOf, waitEvidenceIdOf, type WaitId } from '../../../workflows/contract/ids';
import type { RunRef } from '../../../workflows/contract/records';
import type { StoreUnderTest } from './fixtures';
import { createdOperation, endAs, hashFrom, inParallel, newRef, newWait, startedRun } from './fixtures';

const BOB = { subject: 'bob', roles: ['approver'] };

const newResponse = (wait: WaitId, id: string, changes: Partial<NewResponse> = {}): NewResponse => ({
  id,
  wait,
  principal: BOB,
  body: { decision: 'approve' },
  ...changes,
});

/** As the judge of responses would, on what the law itself requires. */
const judge = ({ wait, run, receivedAt }: ResponseCase): ResponseJudgement => {
  const refuse = (code: string): ResponseJudgement => ({ kind: 'refused', code, message: `is ${code}`, evidence: {} });
  if (run.terminal !== undefined) return refuse('ended');
  if (wait.state === 'CONSUMED') return refuse('decided');
  if (wait.state === 'VOID') return refuse('void');
  if (wait.state === 'EXPIRED' || receivedAt >= wait.expiresAt) return refuse('expired');
  return { kind: 'accepted', response: { decision: 'approve' }, facts: [], evidence: { policies: ['p'] } };
};

const opened = async (store: Store, changes: Parameters<typeof newWait>[2] = {}) => {
  const ref = await startedRun(store);
  const operation = await createdOperation(store, ref);
  const { row } = await store.waits.open({ ref, events: [] }, newWait(ref, 1, { operation, ...changes }));
  return { ref, operation, wait: row };
};

const notesOf = async (store: Store, ref: RunRef) => {
  const lines = await store.journal.list(ref, { after: 0, limit: 99 });
  expect(lines.map(({ position }) => position)).toEqual(lines.map((_line, index) => index + 1));
  return lines.flatMap(({ body: { kind, verdict, subject, wait, evidence }, eventId }) =>
    kind === 'response' ? [{ eventId, verdict, subject, wait, evidence }] : [],
  );
};

const owedOf = async (store: Store, ref: RunRef) =>
  (await store.wakes.take({ limit: 1_000 }))
    .filter((wake) => wake.ref.run === ref.run)
    .map(({ kind, subject }) => [kind, subject]);

const verdictsOf = (receipts: readonly ({ readonly verdict: { readonly kind: string } } | undefined)[]) =>
  receipts.map((receipt) => receipt?.verdict.kind).sort();

export const describeResponses = (under: () => StoreUnderTest): void => {
  describe('responses', () => {
    test('of many at once exactly one is accepted, each has its verdict and its line, and one signal is owed', async () => {
      const { store, other, advance } = under();
      const { ref, wait } = await opened(store);
      const receipts = await inParallel(8, (index) =>
        (index % 2 === 0 ? store : other).waits.respond(ref, newResponse(wait.id, `r${String(index)}`), judge),
      );
      expect(verdictsOf(receipts)).toEqual(['accepted', ...Array.from({ length: 7 }, () => 'refused')]);
      const accepted = receipts.find((receipt) => receipt?.verdict.kind === 'accepted');
      expect((await store.waits.read(ref, wait.id))?.row).toMatchObject({
        state: 'CONSUMED',
        response: { decision: 'approve' },
        responseId: accepted?.id,
      });
      const notes = await notesOf(store, ref);
      expect(notes).toHaveLength(8);
      expect(notes.filter(({ verdict }) => verdict === 'accepted')).toMatchObject([
        { eventId: `response:${accepted?.id ?? ''}`, subject: 'bob', wait: wait.id, evidence: { policies: ['p'] } },
      ]);
      expect(JSON.stringify(await store.journal.list(ref, { after: 0, limit: 99 }))).not.toContain('decision');
      expect((await store.waits.responses(ref, wait.id)).map(({ verdict }) => verdict).sort()).toEqual([
        'accepted',
        ...Array.from({ length: 7 }, () => 'decided'),
      ]);
      advance(10_000);
      expect(await owedOf(store, ref)).toEqual([['respond', wait.id]]);
    });

    test('a response that comes again gets the verdict of then, and is judged once', async () => {
      const { store, other } = under();
      const { ref, wait } = await opened(store);
      let judged = 0;
      const counting = (about: ResponseCase): ResponseJudgement => {
        judged += 1;
        return judge(about);
      };
      const response = newResponse(wait.id, 'same\0id', { body: { text: '\ud800\0' } });
      const receipts = await inParallel(5, (index) =>
        (index % 2 === 0 ? store : other).waits.respond(ref, response, counting),
      );
      expect(verdictsOf(receipts)).toEqual(Array.from({ length: 5 }, () => 'accepted'));
      expect(receipts.filter((receipt) => receipt?.isRepeated === false)).toHaveLength(1);
      expect(new Set(receipts.map((receipt) => receipt?.receivedAt)).size).toBe(1);
      expect(judged).toBe(1);
      expect(await notesOf(store, ref)).toHaveLength(1);
    });

    test.each<[string, Partial<NewResponse>]>([
      ['another body', { body: { decision: 'deny' } }],
      ['another sender', { principal: { subject: 'eve', roles: [] } }],
    ])('the id of another response is refused: %s', async (_what, changes) => {
      const { store } = under();
      const { ref, wait } = await opened(store);
      await store.waits.respond(ref, newResponse(wait.id, 'r1'), judge);
      const taken = await store.waits.respond(ref, newResponse(wait.id, 'r1', changes), judge);
      expect(taken).toMatchObject({ verdict: { kind: 'refused', code: 'response.id_taken' }, isRepeated: false });
      expect(await notesOf(store, ref)).toMatchObject([{ verdict: 'accepted' }, { verdict: 'response.id_taken' }]);
    });

    test('the arrival is judged by the time at which the locks were held, and the equal moment is late', async () => {
      const { store, advance } = under();
      for (const expiresInMs of [5, 10, 15, 20, 25, 30]) {
        const { ref, wait } = await opened(store, { expiresInMs });
        const receipts = await inParallel(6, (index) =>
          store.waits.respond(ref, newResponse(wait.id, `r${String(index)}`, { body: { index } }), judge),
        );
        for (const receipt of receipts) {
          const isInTime = (receipt?.receivedAt ?? 0) < wait.expiresAt;
          const { verdict } = receipt ?? {};
          expect({ isInTime, verdict: verdict?.kind === 'refused' ? verdict.code : verdict?.kind }).toEqual({
            isInTime,
            verdict: isInTime ? expect.stringMatching(/accepted|decided/) : expect.stringMatching(/expired|decided/),
          });
        }
        const { state } = (await store.waits.read(ref, wait.id))?.row ?? {};
        if (verdictsOf(receipts).includes('accepted')) expect(state).toBe('CONSUMED');
      }
      const { ref, wait } = await opened(store, { expiresInMs: 60_000 });
      advance(60_000);
      expect(await store.waits.respond(ref, newResponse(wait.id, 'late'), judge)).toMatchObject({
        verdict: { code: 'expired' },
      });
      expect((await store.waits.list(ref.tenant, { run: ref.run, limit: 9 }))[0]).toMatchObject({ state: 'EXPIRED' });
    });

    test('of a response and a message that changes the plan, a cancel or an end, one comes first', async () => {
      const { store, other } = under();
      const rivals: readonly ((ref: RunRef) => Promise<unknown>)[] = [
        (ref) => other.runs.changePlan(ref, { id: 'm1', kind: 'amend', body: {} }),
        (ref) => other.runs.stopOperations({ ref, events: [] }, true),
        (ref) => other.runs.commit({ ref, events: [] }, endAs(ref, 'FAILED')),
      ];
      for (const [index, rival] of [...rivals, ...rivals].entries()) {
        const { ref, wait, operation } = await opened(store);
        const [receipt] = await Promise.all([
          store.waits.respond(ref, newResponse(wait.id, `r${String(index)}`), judge),
          rival(ref),
        ]);
        const isAccepted = receipt?.verdict.kind === 'accepted';
        expect((await store.waits.read(ref, wait.id))?.row.state).toBe(isAccepted ? 'CONSUMED' : 'VOID');
        // Approved or not: what the plan or the end has overtaken is never sent.
        expect(await store.operations.get(ref, operation)).toMatchObject({ state: 'CANCELLED' });
      }
    });

    test('whoever accepts what cannot be accepted is stopped, and nothing is written', async () => {
      const { store, advance } = under();
      const { ref, wait } = await opened(store);
      advance(60_000);
      const accept = (): ResponseJudgement => ({ kind: 'accepted', response: {}, facts: [], evidence: {} });
      await expect(store.waits.respond(ref, newResponse(wait.id, 'r1'), accept)).rejects.toMatchObject({
        code: 'store.conflict',
      });
      expect(await store.waits.responses(ref, wait.id)).toEqual([]);
    });

    test('an edit changes an operation that was never sent, and no other', async () => {
      const { store } = under();
      const { ref, wait, operation } = await opened(store);
      const hash = hashFrom('edited');
      const edit = {
        tool: 'assign_ticket',
        arguments: hash,
        argumentHash: hash,
        target: 'ticket:T\0',
        expectedVersion: '4',
      };
      const twin = await createdOperation(store, ref, { step: 2, arguments: hash, argumentHash: hash });
      const cases: ResponseCase[] = [];
      await store.waits.respond(ref, newResponse(wait.id, 'r1', { edit }), (about) => {
        cases.push(about);
        return judge(about);
      });
      expect(cases).toMatchObject([{ operation: { id: operation, state: 'CREATED' }, repeated: [] }]);
      expect(await store.operations.get(ref, operation)).toMatchObject({
        argumentHash: hash,
        target: 'ticket:T\0',
        expectedVersion: '4',
        editedBy: wait.id,
      });
      expect(await store.operations.get(ref, twin)).not.toHaveProperty('editedBy');
    });

    test('facts of a response count in the step after, and supersede', async () => {
      const { store } = under();
      const { ref, wait } = await opened(store, { kind: 'question' });
      const evidence = waitEvidenceIdOf(wait.id);
      const answer = { object: 'answer:W1.1', field: 'ticket\0', value: false, evidence };
      await store.waits.respond(ref, newResponse(wait.id, 'r1'), (about) => ({
        ...judge(about),
        kind: 'accepted',
        response: {},
        facts: [answer],
        evidence: {},
      }));
      expect(await store.facts.list(ref, { step: 5, alsoOf: [] })).toMatchObject([answer]);
      expect(evidence).not.toBe(evidenceIdOf(1, 1));
    });

    test('another tenant’s wait, another run’s and none are alike, and leave no trace', async () => {
      const { store } = under();
      const { ref, wait } = await opened(store);
      const stranger = { ...ref, tenant: newRef().tenant };
      const elsewhere = await startedRun(store);
      for (const foreign of [stranger, elsewhere, newRef()]) {
        expect(await store.waits.respond(foreign, newResponse(wait.id, 'r1'), judge)).toBeUndefined();
        expect(await store.waits.responses(foreign, wait.id)).toEqual([]);
      }
      expect(await notesOf(store, ref)).toEqual([]);
      expect((await store.waits.read(ref, wait.id))?.row.state).toBe('OPEN');
    });

    test('the inbox goes by pages, oldest first, without skipping or repeating', async () => {
      const { store, advance } = under();
      const { tenant } = newRef();
      const ref = await startedRun(store, { ref: newRef(tenant) });
      const ids: string[] = [];
      for (const seq of [1, 2, 3, 4, 5]) {
        const kind = seq === 3 ? 'question' : 'approval';
        ids.push((await store.waits.open({ ref, events: [] }, newWait(ref, seq, { kind }))).row.id);
        if (seq !== 2) advance(1);
      }
      const first = await store.waits.page(tenant, { state: 'OPEN', limit: 2 });
      const second = await store.waits.page(tenant, { state: 'OPEN', limit: 2, cursor: first.cursor ?? '' });
      const third = await store.waits.page(tenant, { state: 'OPEN', limit: 2, cursor: second.cursor ?? '' });
      expect([first, second, third].map(({ rows }) => rows.map(({ id }) => id))).toEqual([
        ids.slice(0, 2),
        ids.slice(2, 4),
        ids.slice(4),
      ]);
      expect(third.cursor).toBeUndefined();
      expect((await store.waits.page(tenant, { kind: 'question', limit: 9 })).rows.map(({ id }) => id)).toEqual([
        ids[2],
      ]);
      await expect(store.waits.page(tenant, { limit: 2, cursor: 'x' })).rejects.toMatchObject({
        code: 'store.cursor_invalid',
      });
    });
  });

  describe('messages', () => {
    test('withdraw needs an open wait of this run; the id of another message is taken; the wake goes when it is read', async () => {
      const { store, advance } = under();
      const { ref, wait } = await opened(store);
      const other = await opened(store);
      const withdraw = { id: 'w1', kind: 'withdraw' as const, body: { wait: wait.id } };
      expect(await store.runs.changePlan(ref, { ...withdraw, wait: other.wait.id })).toBe('waitNotOpen');
      expect(await store.runs.changePlan(ref, { ...withdraw, wait: wait.id })).toMatchObject({ change: 'withdrawn' });
      expect((await store.waits.read(ref, wait.id))?.row.state).toBe('VOID');
      expect(await store.runs.changePlan(ref, { ...withdraw, id: 'w2', wait: wait.id })).toBe('waitNotOpen');
      expect(await store.runs.changePlan(ref, { ...withdraw, body: {} })).toBe('idTaken');
      advance(10_000);
      expect(await owedOf(store, ref)).toEqual([['message', 'w1']]);
      await store.runs.planSeen(ref, 1);
      advance(600_000);
      expect(await owedOf(store, ref)).toEqual([['message', 'w1']]);
      await store.runs.planSeen(ref, 2);
      advance(600_000);
      expect(await owedOf(store, ref)).toEqual([]);
    });
  });
};
