/** What the desk's callbacks say about one operation. */
import { z } from 'zod';
import type { CallbackBody, CallbackContext, CallbackReading } from '../../../index';
import { effectShape, type DeskEffect } from './desk-shapes';

const about = { job: z.string().min(1), key: z.string().nullable() };

const callbackShape = z.discriminatedUnion('type', [
  z.object({ ...about, type: z.enum(['job.accepted', 'job.running', 'job.failed']) }),
  z.object({ ...about, type: z.literal('job.done'), effect: effectShape }),
]);

export const readDeskCallback = <Output>(
  { json }: CallbackBody,
  { idempotencyKey }: CallbackContext,
  toOutput: (effect: DeskEffect) => Output,
): CallbackReading<Output> => {
  const parsed = callbackShape.safeParse(json);
  if (!parsed.success) return { kind: 'cannotTell', why: 'the desk sent something else than it documents' };
  const { data } = parsed;
  const { job, key } = data;
  if (key !== null && key !== idempotencyKey) return { kind: 'other', why: 'it names the key of another request' };
  switch (data.type) {
    case 'job.accepted':
    case 'job.running':
      return { kind: 'running', job };
    case 'job.done':
      return { kind: 'found', job, output: toOutput(data.effect) };
    case 'job.failed':
      return { kind: 'cannotTell', job, why: 'the job failed; of what, the desk says only when it is asked' };
  }
};
