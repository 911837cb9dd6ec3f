/**
 * How stored artifacts are parsed when they are read back. What is stored was written by this or another release, so a
 * shape is checked once, where it enters; unknown fields are left out, unknown versions are refused by `readArtifact`.
 */
import { z } from 'zod';
import { idBy } from '../../definition/id-schema';
import type { DefinitionSnapshot } from '../../definition/snapshot';
import { DIAGNOSIS, PLAN as PLAN_SHAPE, QUESTION as QUESTION_SHAPE } from '../../responses/plan-shape';
import { ERROR_CODES, type Failure } from '../../workflows/contract/errors';
import {
  parseArtifactHash,
  parseEvidenceId,
  parseOperationId,
  parseRunId,
  parseWaitId,
} from '../../workflows/contract/ids';
import type { Json } from '../../workflows/contract/json';
import {
  GAP_KINDS,
  type Addition,
  type CallEnd,
  type Answer,
  type Finding,
  type Gap,
  type Manifest,
  type OperationSummary,
  type ShownFact,
} from '../../workflows/contract/records';
import { WAIT_KINDS } from '../../workflows/machine/states';
import type { ResultDigest } from './digest';

/** One kind of artifact: its name in errors, the versions that this release reads, and its shape. */
export interface ArtifactShape<Value> {
  readonly name: string;
  readonly versions: readonly number[];
  readonly schema: z.ZodType<Value>;
  /** Parsed once while a worker remembers it: its readers share it, frozen. Not for what goes on to an agent's own code. */
  readonly isShared?: true;
}

const count = z.number().int().nonnegative();
const json: z.ZodType<Json> = z.json();
const jsonObject = z.record(z.string(), json);
const hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .transform(parseArtifactHash);
const runId = idBy(parseRunId);
const waitId = idBy(parseWaitId);
const operationId = idBy(parseOperationId);
const evidence = idBy(parseEvidenceId);
const optional = z.exactOptional;

const gap: z.ZodType<Gap> = z.object({
  name: z.string(),
  kind: z.enum(GAP_KINDS),
  lacks: z.string(),
  needs: optional(z.array(z.string())),
  candidates: optional(z.array(z.string())),
});

const shownFact: z.ZodType<ShownFact> = z.object({
  object: z.string(),
  field: z.string(),
  value: optional(json),
  valueBytes: optional(count),
  version: optional(z.string()),
  evidence,
});

const callEnd: z.ZodType<CallEnd> = z.object({
  ordinal: count,
  code: optional(z.string()),
  evidence: optional(evidence),
  output: optional(hash),
  failure: optional(hash),
  digest: optional(hash),
  wait: optional(waitId),
});

const addition: z.ZodType<Addition> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('exchange'),
    step: count,
    candidate: hash,
    calls: z.array(callEnd),
    finding: optional(hash),
    wait: optional(waitId),
  }),
  z.object({ kind: z.literal('response'), wait: waitId }),
  z.object({ kind: z.literal('finding'), finding: hash }),
  z.object({ kind: z.literal('correction'), diagnosis: DIAGNOSIS }),
  z.object({ kind: z.literal('message'), message: z.string(), text: z.string() }),
]);

/** As manifests and recorded look-ups hold it. */
export const operationSummary: z.ZodType<OperationSummary> = z.object({
  id: operationId,
  tool: z.string(),
  effect: z.enum(['read', 'write']),
  state: z.string(),
  generation: count,
  step: count,
  ordinal: count,
  target: optional(z.string()),
  code: optional(z.string()),
  evidence: optional(evidence),
});

const manifest: z.ZodType<Manifest> = z.object({
  schemaVersion: z.literal(1),
  run: runId,
  step: count,
  planVersion: count,
  parent: optional(hash),
  adds: z.array(addition),
  kept: optional(z.array(z.object({ addition, isDigested: z.boolean(), shrinks: optional(count) }))),
  leftOut: optional(count),
  definition: hash,
  policyVersion: z.string(),
  model: z.string(),
  remaining: z.object({
    steps: z.number(),
    tokens: z.number(),
    costMicros: z.number(),
    toolCalls: z.number(),
    deadlineMs: z.number(),
  }),
  memory: optional(hash),
  gaps: z.array(gap),
  closed: optional(z.array(z.string())),
  facts: z.array(shownFact),
  openOperations: z.array(operationSummary),
  shrinks: count,
});

const finding: z.ZodType<Finding> = z.object({
  schemaVersion: z.literal(1),
  code: z.string(),
  message: z.string(),
  field: optional(z.string()),
  value: optional(json),
  expected: optional(z.string()),
  gaps: optional(z.array(gap)),
  calls: optional(
    z.array(z.object({ ordinal: count, code: z.enum(ERROR_CODES), message: z.string(), field: optional(z.string()) })),
  ),
});

const answer: z.ZodType<Answer> = z.object({
  schemaVersion: z.literal(1),
  outcome: z.enum(['done', 'cannot']),
  answer: z.string(),
  claims: z.array(
    z.object({
      text: z.string(),
      evidence: z.array(evidence),
      asserts: optional(z.array(z.object({ object: z.string(), field: z.string(), value: json }))),
    }),
  ),
});

const failure: z.ZodType<Failure> = z.object({
  code: z.enum(ERROR_CODES),
  message: z.string(),
  confirmed: optional(json),
  evidence: z.array(z.string()),
  recoveries: z.array(z.string()),
});

const resultDigest: z.ZodType<ResultDigest> = z.discriminatedUnion('kind', [
  z.object({
    schemaVersion: z.literal(1),
    kind: z.literal('excerpt'),
    bytes: count,
    lines: count,
    head: z.string(),
    tail: z.string(),
    matches: z.array(z.object({ atByte: count, text: z.string() })),
  }),
  z.object({ schemaVersion: z.literal(1), kind: z.literal('own'), bytes: count, lines: count, text: z.string() }),
]);

const loops = z.object({
  repeatedCall: z.number(),
  repeatedError: z.number(),
  noProgress: z.number(),
  alternatingPlan: z.number(),
  onLoop: z.enum(['fail', 'handoff']),
});

const limits = z.object({
  maxSteps: z.number(),
  maxTokens: z.number(),
  maxCostMicros: z.number(),
  maxToolCalls: z.number(),
  deadlineMs: z.number(),
  maxRepairs: z.number(),
  maxProviderFailures: z.number(),
  maxLostAttempts: z.number(),
  maxTruncations: z.number(),
  maxPauses: z.number(),
  maxAnalyses: z.number(),
  backOffBaseMs: z.number(),
  backOffMaxMs: z.number(),
  maxRetryAfterMs: z.number(),
  cancelGraceMs: z.number(),
  attemptTimeoutMs: z.number(),
  onRefusal: z.enum(['fail', 'handoff']),
  onExpiry: z.record(z.enum(WAIT_KINDS), z.enum(['end', 'tell-model'])),
  loops,
});

const snapshot: z.ZodType<DefinitionSnapshot> = z.object({
  schemaVersion: z.literal(1),
  agent: z.string(),
  version: z.string(),
  instructions: z.string(),
  tools: z.array(
    z.object({
      name: z.string(),
      description: z.string(),
      effect: z.enum(['read', 'write']),
      risk: z.enum(['low', 'medium', 'high']),
      inputSchema: jsonObject,
      hash: z.string(),
    }),
  ),
  policyVersion: z.string(),
  validators: z.array(z.object({ name: z.string(), version: z.string() })),
  conditions: z.array(z.string()),
  model: z.object({
    provider: z.literal('anthropic'),
    model: z.string(),
    maxOutputTokens: z.number(),
    maxContextBytes: z.number(),
    idleTimeoutMs: z.number(),
    prices: z.object({
      version: z.string(),
      inputPerMillion: z.number(),
      outputPerMillion: z.number(),
      cacheReadPerMillion: z.number(),
      cacheWritePerMillion: z.number(),
    }),
    thinking: optional(z.object({ budgetTokens: z.number() })),
  }),
  limits,
  waits: z.record(z.enum(WAIT_KINDS), z.object({ expiresInMs: z.number(), onExpiry: z.enum(['end', 'tell-model']) })),
});

const versioned = <Value>(name: string, schema: z.ZodType<Value>): ArtifactShape<Value> => ({
  name,
  versions: [1],
  schema,
});

export const MANIFEST: ArtifactShape<Manifest> = { ...versioned('manifest', manifest), isShared: true };
export const FINDING = versioned('finding', finding);
export const PLAN = versioned('plan', PLAN_SHAPE);
export const QUESTION = versioned('question', QUESTION_SHAPE);
export const ANSWER = versioned('answer', answer);
export const RESULT_DIGEST = versioned('result digest', resultDigest);
export const DEFINITION = versioned('definition', snapshot);
/** Failures carry no version of their own: they change together with the error codes. */
export const FAILURE: ArtifactShape<Failure> = { name: 'failure', versions: [], schema: failure };
