/** How ids are made and parsed. Derived ids are the same on every worker that asks again. */
import {
  parseDerivedId,
  type ArtifactHash,
  type EvidenceId,
  type Fingerprint,
  type OperationId,
  type RunId,
  type TenantId,
  type WaitId,
} from '../machine/ids';

export type { ArtifactHash, EvidenceId, Fingerprint, OperationId, RunId, TenantId, WaitId } from '../machine/ids';

const RUN_ID = /^run_[A-Za-z0-9-]{6,64}$/;
const HASH = /^[0-9a-f]{64}$/;
const WAIT_ID = /^wait_[A-Za-z0-9-]{6,64}_\d+_\d+$/;
const OPERATION_ID = /^op_([A-Za-z0-9-]{6,64})_(\d+)_(\d+)$/;
/** Of a response to a run that this one reopens, that run is part of it. */
export const EVIDENCE_ID = /^[EW]\d{1,6}\.\d{1,6}(@run_[A-Za-z0-9-]{6,64})?$/;
const TENANT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

export class InvalidId extends Error {
  readonly code = 'id.invalid';
  constructor(
    readonly field: string,
    readonly value: unknown,
    readonly expected: string,
  ) {
    super(
      `${field}: got ${value === undefined ? 'nothing' : JSON.stringify(value).slice(0, 100)}, expected ${expected}`,
    );
    this.name = 'InvalidId';
  }
}

const parserOf =
  <Id extends string>(parse: (derived: string) => Id, field: string, [pattern, expected]: readonly [RegExp, string]) =>
  (value: unknown): Id => {
    if (typeof value !== 'string' || !pattern.test(value)) throw new InvalidId(field, value, expected);
    return parse(value);
  };

export const parseRunId = parserOf(parseDerivedId<RunId>, 'run', [RUN_ID, "a run id such as 'run_4f3c2a'"]);
export const parseWaitId = parserOf(parseDerivedId<WaitId>, 'wait', [WAIT_ID, "a wait id such as 'wait_4f3c2a_12_1'"]);
export const parseOperationId = parserOf(parseDerivedId<OperationId>, 'operation', [
  OPERATION_ID,
  "an operation id such as 'op_4f3c2a_3_1'",
]);
export const parseArtifactHash = parserOf(parseDerivedId<ArtifactHash>, 'artifact', [HASH, '64 lower-case hex digits']);
export const parseEvidenceId = parserOf(parseDerivedId<EvidenceId>, 'evidence', [
  EVIDENCE_ID,
  "an evidence id such as 'E3.1', 'W17.0' or 'W17.0@run_4f3c2a'",
]);
export const parseTenantId = parserOf(parseDerivedId<TenantId>, 'tenant', [
  TENANT_ID,
  'up to 63 letters, digits, dots, dashes or underscores',
]);

/** The operation that the `ordinal`-th call of the step's accepted candidate means. Also its idempotency key. */
export const operationIdOf = (run: RunId, step: number, ordinal: number): OperationId =>
  parseDerivedId<OperationId>(`op_${run.slice('run_'.length)}_${String(step)}_${String(ordinal)}`);

export interface OperationCoordinates {
  readonly run: RunId;
  readonly step: number;
  readonly ordinal: number;
}

export const coordinatesOf = (operation: OperationId): OperationCoordinates => {
  const [, run = '', step = '', ordinal = ''] = OPERATION_ID.exec(operation) ?? [];
  return { run: parseDerivedId<RunId>(`run_${run}`), step: Number(step), ordinal: Number(ordinal) };
};

/** The run whose wait it is: part of the id. */
export const runOfWait = (wait: WaitId): RunId => parseDerivedId<RunId>(`run_${wait.split('_')[1] ?? ''}`);

/** The wait that the event `seq` opened, by its place among those that it opened. */
export const waitIdOf = (run: RunId, seq: number, index: number): WaitId =>
  parseDerivedId<WaitId>(`wait_${run.slice('run_'.length)}_${String(seq)}_${String(index)}`);

/** Evidence of one operation's result (`E3.1`). */
export const evidenceIdOf = (step: number, ordinal: number): EvidenceId =>
  parseDerivedId<EvidenceId>(`E${String(step)}.${String(ordinal)}`);

/** Evidence of a person's response (`W17.0`: the wait opened by event 17). */
export const waitEvidenceIdOf = (wait: WaitId): EvidenceId =>
  parseDerivedId<EvidenceId>(`W${wait.split('_').slice(2).join('.')}`);

/** What an evidence id names: the step and ordinal of a call, or the opening event and ordinal of a wait. */
export interface EvidencePlace {
  readonly kind: 'call' | 'wait';
  readonly first: number;
  readonly second: number;
  readonly run?: RunId;
}

export const placeOf = (evidence: EvidenceId): EvidencePlace => {
  const [place = '', run] = evidence.split('@');
  const [first = '', second = ''] = place.slice(1).split('.');
  return {
    kind: place.startsWith('W') ? 'wait' : 'call',
    first: Number(first),
    second: Number(second),
    ...(run === undefined ? {} : { run: parseRunId(run) }),
  };
};

/** The first 16 hex digits of a full hash. */
export const fingerprintOf = (hash: string): Fingerprint => parseDerivedId<Fingerprint>(hash.slice(0, 16));
