/**
 * Everything a judgement looked up besides the artifacts that it names, as it was found. Stored with the decisions, so that
 * the candidate can be judged again under other validators as if it were then.
 *
 * History of the shape: version 1, the first.
 */
import { z } from 'zod';
import type { OperationRow } from '../../store/rows';
import { parseArtifactHash, parseOperationId } from '../../workflows/contract/ids';
import { ERROR_CODES } from '../../workflows/contract/errors';
import type { OperationSummary } from '../../workflows/contract/records';
import { OPERATION_STATES } from '../../workflows/machine/operation-transitions';
import { TERMINALS, type Terminal } from '../../workflows/machine/states';
import { operationSummary, type ArtifactShape } from '../context/artifact-shapes';

/** An earlier operation with the same tool and arguments. */
export type RecordedOperation = Pick<
  OperationRow,
  'id' | 'state' | 'code' | 'equivalent' | 'raw' | 'output' | 'resultHash' | 'evidence'
>;

export interface RunStatus {
  readonly planVersion: number;
  readonly isCancelRequested: boolean;
  readonly isPastDeadline: boolean;
  readonly terminal?: Terminal;
}

/** What only a finish needs. */
export interface FinishLookUps {
  /** Those of the cited evidence ids that are the run's own. */
  readonly evidence: readonly string[];
  readonly operations: readonly OperationSummary[];
  /** A wait of the run expired without an answer. */
  readonly hasExpiredWait: boolean;
  /** The person's last message withdrew what had been asked. */
  readonly isWithdrawn: boolean;
  /** A tool was proposed that the principal never gets. */
  readonly hasForbiddenTool: boolean;
}

export interface LookUps {
  readonly schemaVersion: 1;
  readonly run: RunStatus;
  readonly equivalents: readonly { readonly ordinal: number; readonly operations: readonly RecordedOperation[] }[];
  readonly finish?: FinishLookUps;
}

export const recordOperation = (row: OperationRow): RecordedOperation => ({
  id: row.id,
  state: row.state,
  ...(row.code === undefined ? {} : { code: row.code }),
  ...(row.equivalent === undefined ? {} : { equivalent: row.equivalent }),
  ...(row.raw === undefined ? {} : { raw: row.raw }),
  ...(row.output === undefined ? {} : { output: row.output }),
  ...(row.resultHash === undefined ? {} : { resultHash: row.resultHash }),
  ...(row.evidence === undefined ? {} : { evidence: row.evidence }),
});

const optional = z.exactOptional;
const count = z.number().int().nonnegative();
const hash = z.string().transform(parseArtifactHash);
const operationId = z.string().transform(parseOperationId);
const parseEvidence = (text: string): NonNullable<OperationSummary['evidence']> =>
  text as NonNullable<OperationSummary['evidence']>;
const evidence = z.string().transform(parseEvidence);

const operation: z.ZodType<RecordedOperation> = z.object({
  id: operationId,
  state: z.enum(OPERATION_STATES),
  code: optional(z.enum(ERROR_CODES)),
  equivalent: optional(operationId),
  raw: optional(hash),
  output: optional(hash),
  resultHash: optional(z.string()),
  evidence: optional(evidence),
});

const lookUps: z.ZodType<LookUps> = z.object({
  schemaVersion: z.literal(1),
  run: z.object({
    planVersion: count,
    isCancelRequested: z.boolean(),
    isPastDeadline: z.boolean(),
    terminal: optional(z.enum(TERMINALS)),
  }),
  equivalents: z.array(z.object({ ordinal: count, operations: z.array(operation) })),
  finish: optional(
    z.object({
      evidence: z.array(z.string()),
      operations: z.array(operationSummary),
      hasExpiredWait: z.boolean(),
      isWithdrawn: z.boolean(),
      hasForbiddenTool: z.boolean(),
    }),
  ),
});

export const LOOK_UPS: ArtifactShape<LookUps> = { name: 'look-ups', versions: [1], schema: lookUps };
