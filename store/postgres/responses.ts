/**
 * What people say to waits, judged and written in one transaction. The run row is locked first, as by everything that moves
 * its plan or its end; then the wait, so that of two responses one is second; then the operation that it is about.
 */
import { sql, type RawBuilder } from 'kysely';
import type { WaitId } from '../../workflows/contract/ids';
import type { Fact, RunRef } from '../../workflows/contract/records';
import { isUnproved, isUnsent, type OperationState } from '../../workflows/machine/operation-transitions';
import { RowMissing, StoreConflict } from '../errors';
import type {
  NewResponse,
  ResponseCase,
  ResponseJudgement,
  ResponseReceipt,
  ResponseRow,
  RunRow,
  WaitRow,
} from '../rows';
import type { WaitStore } from '../outside';
import { mapPresent, present } from './columns';
import type { Session, Trx } from './connect';
import { isSameJson } from './json';
import { lockRun, type LockedRun } from './locked-run';
import { noteEvents, type Note } from './note';
import { isOperation } from './operation-row';
import { findEquivalent } from './operations';
import { toRunRow } from './run-row';
import { lockOperation } from './settle';
import { decodeText, encodeKey, encodeText } from './text';
import { toWaitRow } from './wait-row';
import { insertWake } from './wakes';

type Judge = Parameters<WaitStore['respond']>[2];

interface Responding {
  readonly ref: RunRef;
  readonly response: NewResponse;
}

export const respond = (
  session: Session,
  responding: Responding,
  judge: Judge,
): Promise<ResponseReceipt | undefined> => {
  const { ref } = responding;
  return session.transact(async (trx) => {
    if (!(await hasWait(trx, responding))) return undefined;
    const run = await lockRun(trx, ref);
    const stored = await findResponse(trx, responding);
    if (stored !== undefined) return recall(session, trx, { run, responding, stored });
    const about = await loadCase(session, trx, responding);
    const judgement = judge(about);
    if (judgement.kind === 'accepted') assertAcceptable(about, judgement);
    await insertResponse(trx, { responding, about, judgement });
    await moveWait(trx, { responding, about, judgement });
    if (judgement.kind === 'accepted') {
      await editOperation(trx, responding, about.wait);
      await insertFacts(session, trx, { about, facts: judgement.facts });
      await insertWake(session, trx, { ref, wake: { kind: 'respond', subject: about.wait.id } });
    }
    await noteEvents(session, trx, { run, notes: [toNote(responding, about, judgement)] });
    return toReceipt(responding.response, about.receivedAt, judgement);
  });
};

/** Before the lock: a run that does not exist has no row to lock. */
const hasWait = async (trx: Trx, { ref, response }: Responding): Promise<boolean> => {
  const row = await trx
    .selectFrom('waits')
    .select('id')
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('id', '=', response.wait)
    .executeTakeFirst();
  return row !== undefined;
};

const findResponse = async (trx: Trx, { ref, response }: Responding) =>
  trx
    .selectFrom('responses')
    .selectAll()
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('id', '=', encodeKey('response', response.id))
    .executeTakeFirst();

type Stored = NonNullable<Awaited<ReturnType<typeof findResponse>>>;

interface Recalled {
  readonly run: LockedRun;
  readonly responding: Responding;
  readonly stored: Stored;
}

const recall = async (session: Session, trx: Trx, { run, responding, stored }: Recalled): Promise<ResponseReceipt> => {
  const { response } = responding;
  const base = { id: response.id, wait: response.wait };
  if (isSameResponse(stored, response)) {
    const { verdict, message } = stored;
    const said: ResponseReceipt['verdict'] =
      verdict === ACCEPTED
        ? { kind: 'accepted' }
        : { kind: 'refused', code: verdict, message: mapPresent(message, decodeText) ?? '' };
    return { ...base, receivedAt: stored.received_at, verdict: said, isRepeated: true };
  }
  const { rows } = await sql<{ readonly now: number }>`select ${session.clock.nowMs()} as now`.execute(trx);
  const refused = {
    kind: 'refused',
    code: 'response.id_taken',
    message: `response: got the id ${JSON.stringify(response.id)} with other content, expected a new id for a new response`,
  } as const;
  const receivedAt = rows[0]?.now ?? stored.received_at;
  const note = { kind: 'response', response: response.id, wait: response.wait, verdict: refused.code };
  const subject = response.principal.subject;
  // One line for each wait that it was tried on; the verdict of the first response stands under its own.
  const eventId = `response:${response.id}:taken:${response.wait}`;
  await noteEvents(session, trx, { run, notes: [{ eventId, body: { ...note, subject, receivedAt } }] });
  return { ...base, receivedAt, verdict: refused, isRepeated: false };
};

const ACCEPTED = 'accepted';

const isSameResponse = (stored: Stored, { wait, principal, body }: NewResponse): boolean =>
  stored.wait === wait && stored.principal.subject === principal.subject && isSameJson(stored.body, body);

const loadCase = async (session: Session, trx: Trx, { ref, response }: Responding): Promise<ResponseCase> => {
  const wait = await lockWait(trx, { ref, response });
  const operation =
    wait.operation === undefined ? undefined : (await lockOperation(session, trx, { ref, id: wait.operation })).row;
  const { row: run, now } = await readRun(session, trx, ref);
  return {
    wait,
    run,
    ...(operation === undefined ? {} : { operation }),
    repeated: await findRepeated(trx, { ref, response }, wait),
    receivedAt: now,
  };
};

const lockWait = async (trx: Trx, { ref, response }: Responding): Promise<WaitRow> => {
  const row = await trx
    .selectFrom('waits')
    .selectAll()
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('id', '=', response.wait)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) throw new RowMissing(response.wait);
  return toWaitRow(row);
};

/** The last to be read: its time is that of the response, since every lock is held by now. */
const readRun = async (
  { clock }: Session,
  trx: Trx,
  { tenant, run }: RunRef,
): Promise<{ readonly row: RunRow; readonly now: number }> => {
  const found = await trx
    .selectFrom('runs')
    .selectAll()
    .select(clock.nowMs().as('now'))
    .where('tenant', '=', tenant)
    .where('run', '=', run)
    .executeTakeFirst();
  if (found === undefined) throw new RowMissing(run);
  const { now, ...row } = found;
  return { row: toRunRow(row), now };
};

/** Steps are far fewer. */
const EVERY_STEP = 2_147_483_647;

const findRepeated = async (
  trx: Trx,
  { ref, response: { edit } }: Responding,
  { operation }: WaitRow,
): Promise<ResponseCase['repeated']> => {
  if (edit === undefined) return [];
  const { tool, argumentHash } = edit;
  const like = { tool, argumentHash, step: EVERY_STEP, beforeOrdinal: 0 };
  const rows = await findEquivalent(trx, ref, like);
  return rows.filter(({ id, state }) => id !== operation && isDoneOrMayBe(state)).map(({ id }) => id);
};

const isDoneOrMayBe = (state: OperationState): boolean => state === 'SUCCEEDED' || isUnsent(state) || isUnproved(state);

/** Law 9, whatever the judge says. */
const assertAcceptable = ({ wait, run, receivedAt }: ResponseCase, judgement: ResponseJudgement): void => {
  const isOpen = wait.state === 'OPEN' && receivedAt < wait.expiresAt && run.terminal === undefined;
  if (!isOpen) throw new StoreConflict(wait.id, { ...wait, receivedAt }, judgement);
};

interface Judged {
  readonly responding: Responding;
  readonly about: ResponseCase;
  readonly judgement: ResponseJudgement;
}

const insertResponse = async (trx: Trx, { responding, about, judgement }: Judged): Promise<void> => {
  const { ref, response } = responding;
  await trx
    .insertInto('responses')
    .values({
      tenant: ref.tenant,
      run: ref.run,
      id: encodeKey('response', response.id),
      wait: response.wait,
      principal: JSON.stringify(response.principal),
      body: JSON.stringify(response.body),
      received_at: toMoment(about.receivedAt),
      verdict: judgement.kind === 'accepted' ? ACCEPTED : judgement.code,
      message: judgement.kind === 'accepted' ? null : encodeText(judgement.message),
    })
    .execute();
};

const moveWait = async (trx: Trx, { responding, about, judgement }: Judged): Promise<void> => {
  const { ref, response } = responding;
  const isOverdue = about.wait.state === 'OPEN' && about.receivedAt >= about.wait.expiresAt;
  if (judgement.kind === 'refused' && !isOverdue) return;
  await trx
    .updateTable('waits')
    .set(
      judgement.kind === 'accepted'
        ? {
            state: 'CONSUMED',
            response: JSON.stringify(judgement.response),
            response_id: encodeText(response.id),
          }
        : { state: 'EXPIRED' },
    )
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('id', '=', response.wait)
    .execute();
};

const toMoment = (ms: number): RawBuilder<number> => sql`to_timestamp(${ms}::float8 / 1000)`;

/** What is sent for it from now on is what was approved. One that has been sent keeps its arguments. */
const editOperation = async (trx: Trx, { ref, response: { edit } }: Responding, wait: WaitRow): Promise<void> => {
  const { operation } = wait;
  if (edit === undefined) return;
  if (operation === undefined) throw new StoreConflict(wait.id, 'a wait about no operation', edit);
  const edited = await trx
    .updateTable('operations')
    .set({
      arguments: edit.arguments,
      argument_hash: edit.argumentHash,
      target: mapPresent(edit.target, encodeText),
      expected_version: mapPresent(edit.expectedVersion, encodeText),
      edited_by: wait.id,
    })
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('state', '=', 'CREATED')
    .where((eb) => isOperation(eb, operation))
    .returning('id')
    .executeTakeFirst();
  if (edited === undefined) throw new StoreConflict(operation, 'an operation that was sent', edit);
};

export const listResponses = async ({ db }: Session, ref: RunRef, wait: WaitId): Promise<readonly ResponseRow[]> => {
  const rows = await db
    .selectFrom('responses')
    .select(['id', 'wait', 'principal', 'received_at', 'verdict', 'message'])
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('wait', '=', wait)
    .orderBy('received_at')
    .orderBy('id')
    .execute();
  return rows.map(({ id, received_at, message, ...row }) => ({
    ...row,
    id: decodeText(id),
    receivedAt: received_at,
    ...present({ message: mapPresent(message, decodeText) }),
  }));
};

/** Behind those of the calls of the step in which it was asked. */
const AFTER_CALLS = 1_000_000;

const insertFacts = async (
  { clock }: Session,
  trx: Trx,
  { about: { wait, run }, facts }: { readonly about: ResponseCase; readonly facts: readonly Fact[] },
): Promise<void> => {
  if (facts.length === 0) return;
  await trx
    .insertInto('facts')
    .values(
      facts.map(({ object, field, value, version, evidence }, index) => ({
        tenant: run.ref.tenant,
        run: run.ref.run,
        source: wait.id,
        index,
        step: run.step,
        ordinal: AFTER_CALLS,
        object: encodeText(object),
        field: encodeText(field),
        value: JSON.stringify(value),
        version: mapPresent(version, encodeText),
        evidence,
        recorded_at: clock.now(),
      })),
    )
    .execute();
};

const toNote = ({ response }: Responding, { wait, receivedAt }: ResponseCase, judgement: ResponseJudgement): Note => ({
  eventId: `response:${response.id}`,
  body: {
    kind: 'response',
    response: response.id,
    wait: wait.id,
    waitKind: wait.kind,
    subject: response.principal.subject,
    roles: response.principal.roles,
    receivedAt,
    verdict: judgement.kind === 'accepted' ? ACCEPTED : judgement.code,
    evidence: judgement.evidence,
  },
});

const toReceipt = ({ id, wait }: NewResponse, receivedAt: number, judgement: ResponseJudgement): ResponseReceipt => ({
  id,
  wait,
  receivedAt,
  verdict:
    judgement.kind === 'accepted'
      ? { kind: 'accepted' }
      : { kind: 'refused', code: judgement.code, message: judgement.message, ...fieldOf(judgement) },
  isRepeated: false,
});

const fieldOf = ({ evidence: { field } }: ResponseJudgement): { readonly field?: string } =>
  typeof field === 'string' ? { field } : {};
