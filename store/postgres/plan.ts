/** Accepted messages move the plan on: one transaction on the locked run row. */
import type { WaitId } from '../../workflows/contract/ids';
import type { JsonObject } from '../../workflows/contract/json';
import type { RunRef } from '../../workflows/contract/records';
import type { PlanChange, PlanMessage, PlanRefusal, RunStore } from '../store';
import { RowMissing } from '../errors';
import type { Db, Session, Trx } from './connect';
import { isSameJson } from './json';
import { lockRun } from './locked-run';
import { noteEvents } from './note';
import { decodeText, encodeKey } from './text';
import { cancelUnsentWrites, listCancelled, voidWaits } from './unsent';
import { insertWake } from './wakes';

export const changePlan = (
  session: Session,
  ref: RunRef,
  message: PlanMessage,
): Promise<PlanChange | PlanRefusal | undefined> =>
  session.transact(async (trx) => {
    const run = await lockRun(trx, ref);
    const accepted = await findMessage(trx, ref, message.id);
    if (accepted !== undefined) return isSameMessage(accepted, message) ? toChange(trx, ref, accepted) : 'idTaken';
    if (run.end !== undefined) return undefined;
    if (run.isStopped || run.isCancelRequested) return 'ending';
    if (message.wait !== undefined && !(await isOpen(session, trx, { ref, wait: message.wait }))) return 'waitNotOpen';
    const planVersion = run.planVersion + 1;
    await insertMessage(session, trx, { ref, message, planVersion });
    await voidWaits(trx, ref);
    const cancelled = await cancelUnsentWrites(trx, { ref, by: planMark(planVersion), code: 'SUPERSEDED' });
    await insertWake(session, trx, { ref, wake: { kind: 'message', subject: message.id } });
    await noteEvents(session, trx, { run, notes: [toNote(message, planVersion)] });
    return { planVersion, change: changeOf(message.kind), cancelled };
  });

type Message = PlanMessage;

const isSameMessage = ({ kind, body }: Accepted, message: Message): boolean =>
  kind === message.kind && isSameJson(body, message.body);

/** Locked, so that no response is accepted meanwhile. */
const isOpen = async (
  { clock }: Session,
  trx: Trx,
  { ref, wait }: { readonly ref: RunRef; readonly wait: WaitId },
): Promise<boolean> => {
  const row = await trx
    .selectFrom('waits')
    .select('id')
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('id', '=', wait)
    .where('state', '=', 'OPEN')
    .where('expires_at', '>', clock.now())
    .forUpdate()
    .executeTakeFirst();
  return row !== undefined;
};

const planMark = (planVersion: number): string => `plan:${String(planVersion)}`;

const changeOf = (kind: Message['kind']): 'amended' | 'withdrawn' => (kind === 'amend' ? 'amended' : 'withdrawn');

const toNote = ({ id, kind, body, subject }: Message, planVersion: number) => ({
  eventId: `message:${id}`,
  body: { kind, message: id, planVersion, body, ...(subject === undefined ? {} : { subject }) },
});

interface Accepted {
  readonly kind: Message['kind'];
  readonly body: JsonObject;
  readonly plan_version: number;
}

const findMessage = async (trx: Trx, ref: RunRef, id: string): Promise<Accepted | undefined> =>
  trx
    .selectFrom('messages')
    .select(['kind', 'body', 'plan_version'])
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('id', '=', encodeKey('message', id))
    .executeTakeFirst();

const toChange = async (trx: Trx, ref: RunRef, { kind, plan_version }: Accepted): Promise<PlanChange> => {
  const cancelled = await listCancelled(trx, ref, [planMark(plan_version)]);
  return { planVersion: plan_version, change: changeOf(kind), cancelled: cancelled.map((operation) => operation.id) };
};

const insertMessage = async (
  { clock }: Session,
  trx: Trx,
  { ref, message, planVersion }: { readonly ref: RunRef; readonly message: Message; readonly planVersion: number },
): Promise<void> => {
  await trx
    .with('message', (db) =>
      db.insertInto('messages').values({
        tenant: ref.tenant,
        run: ref.run,
        id: encodeKey('message', message.id),
        kind: message.kind,
        body: JSON.stringify(message.body),
        plan_version: planVersion,
        accepted_at: clock.now(),
      }),
    )
    .updateTable('runs')
    .set({ plan_version: planVersion })
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .execute();
};

export const readPlan = async (
  db: Db,
  ref: RunRef,
  since: { readonly planVersion: number; readonly step: number },
): Promise<PlanChange> => {
  const messages = await selectMessages(db, ref)
    .select(['kind', 'plan_version'])
    .where('plan_version', '>', since.planVersion)
    .execute();
  const last = messages.at(-1);
  if (last === undefined) return { planVersion: await readPlanVersion(db, ref), change: 'none', cancelled: [] };
  const marks = messages.map((message) => planMark(message.plan_version));
  const cancelled = await listCancelled(db, ref, marks);
  return {
    planVersion: last.plan_version,
    change: changeOf(last.kind),
    cancelled: cancelled.filter((operation) => operation.step === since.step).map((operation) => operation.id),
  };
};

/** Ids are in both tables in the same form. */
export const planSeen = async (db: Db, ref: RunRef, planVersion: number): Promise<void> => {
  await db
    .deleteFrom('wakes')
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .where('kind', '=', 'message')
    .where(
      'subject',
      'in',
      selectMessages(db, ref).clearOrderBy().select('id').where('plan_version', '<=', planVersion),
    )
    .execute();
};

const readPlanVersion = async (db: Db, ref: RunRef): Promise<number> => {
  const row = await db
    .selectFrom('runs')
    .select('plan_version')
    .where('tenant', '=', ref.tenant)
    .where('run', '=', ref.run)
    .executeTakeFirst();
  if (row === undefined) throw new RowMissing(ref.run);
  return row.plan_version;
};

const selectMessages = (db: Db, ref: RunRef) =>
  db.selectFrom('messages').where('tenant', '=', ref.tenant).where('run', '=', ref.run).orderBy('plan_version');

export const readMessages = async (
  db: Db,
  ref: RunRef,
  range: { readonly after: number; readonly upTo: number },
): ReturnType<RunStore['messages']> => {
  const rows = await selectMessages(db, ref)
    .select(['id', 'kind', 'body'])
    .where('plan_version', '>', range.after)
    .where('plan_version', '<=', range.upTo)
    .execute();
  return rows.map(({ id, ...row }) => ({ id: decodeText(id), ...row }));
};
