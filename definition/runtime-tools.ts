/**
 * The tools that every agent has besides its own. `finish`, `ask_user` and `analyse` turn a candidate into something other
 * than calls and stand alone in it; `read_evidence` is a read like any other, of what the run has stored itself.
 */
import { z } from 'zod';
import { EVIDENCE_ID, parseEvidenceId } from '../workflows/contract/ids';
import type { JsonObject } from '../workflows/contract/json';
import type { Answer } from '../workflows/contract/records';
import { convertSchema } from './provider-schema';
import { responseSchemaSchema } from './response-schema';

/** `E3.1` for the result of a call, `W17.0` for a person's response. */
export const evidenceIdSchema = z.string().regex(EVIDENCE_ID);

const claim = z.strictObject({
  text: z.string().min(1).max(2_000),
  evidence: z
    .array(evidenceIdSchema)
    .min(1)
    .max(20)
    .describe('Evidence ids that the claim rests on, as shown with the results.'),
  asserts: z
    .array(z.strictObject({ object: z.string().max(500), field: z.string().max(500), value: z.json() }))
    .max(20)
    .optional()
    .describe('What the claim says about objects; each has to equal a confirmed fact.'),
});

export const finishSchema = z.strictObject({
  outcome: z.enum(['done', 'cannot']),
  answer: z.string().min(1).max(20_000).describe('The answer to the person who asked, in their words.'),
  claims: z.array(claim).max(50),
});

const question = z.string().min(1).max(4_000);

export const askUserSchema = z.strictObject({ question, responseSchema: responseSchemaSchema });

/** What the model is sent: the language of response schemas in words, which costs a tenth of its JSON Schema. */
const shownAskUserSchema = z.strictObject({
  question,
  responseSchema: z
    .looseObject({ type: z.literal('object'), properties: z.looseObject({}) })
    .describe(
      'JSON Schema of the answer: 1 to 12 plain fields, each string (optional enum, minLength, maxLength), integer or ' +
        'number (optional minimum, maximum), boolean, or array of these; optional title, description and required.',
    ),
});

export const analyseSchema = z.strictObject({
  gap: z.string().min(1).max(200).describe('Name of the open gap, of kind work, that needs thinking only.'),
  notes: z.string().max(8_000).optional(),
});

const MAX_EVIDENCE_BYTES = 65_536;

export const readEvidenceSchema = z.strictObject({
  evidence: evidenceIdSchema,
  fromByte: z.int().min(0).default(0),
  maxBytes: z.int().min(1).max(MAX_EVIDENCE_BYTES).default(16_384),
});

export const CONTROL_TOOLS = ['finish', 'ask_user', 'analyse'] as const;
export type ControlTool = (typeof CONTROL_TOOLS)[number];
export const READ_EVIDENCE = 'read_evidence';

export const isControlTool = (name: string): name is ControlTool => CONTROL_TOOLS.some((each) => each === name);

export interface RuntimeTool {
  readonly name: ControlTool | typeof READ_EVIDENCE;
  readonly description: string;
  /** As the provider is sent it. */
  readonly inputSchema: JsonObject;
}

const asTool = (name: RuntimeTool['name'], description: string, schema: z.ZodType): RuntimeTool => {
  const conversion = convertSchema(schema);
  if (conversion.kind === 'refused') throw new Error(`the schema of ${name} cannot be sent to a provider`);
  return { name, description, inputSchema: conversion.schema };
};

export const RUNTIME_TOOLS: readonly RuntimeTool[] = [
  asTool(
    'finish',
    "Ends the task. outcome 'done': every condition holds, and each claim cites evidence. outcome 'cannot': something recorded blocks the task (no permission, a person's denial, nobody answered, an object that does not exist). Stands alone, without other calls.",
    finishSchema,
  ),
  asTool(
    'ask_user',
    'Asks a person, who answers by the given schema. Only while a gap of kind choice is open. Stands alone, without other calls.',
    shownAskUserSchema,
  ),
  asTool(
    'analyse',
    'Takes one step for thinking only, to close an open gap of kind work. Not for missing facts: read those with a tool. Stands alone, without other calls.',
    analyseSchema,
  ),
  asTool(
    READ_EVIDENCE,
    'Reads on in a result that was too large to be shown whole, by its evidence id.',
    readEvidenceSchema,
  ),
];

const runtimeNames: ReadonlySet<string> = new Set(RUNTIME_TOOLS.map(({ name }) => name));

/** Names that no agent may give to a tool of its own. */
export const isRuntimeTool = (name: string): boolean => runtimeNames.has(name);

export const toAnswer = ({ outcome, answer, claims }: z.output<typeof finishSchema>): Answer => ({
  schemaVersion: 1,
  outcome,
  answer,
  claims: claims.map(({ text, evidence, asserts }) => ({
    text,
    evidence: evidence.map(parseEvidenceId),
    ...(asserts === undefined ? {} : { asserts }),
  })),
});

/** Plain text at the end of a turn: a proposal to finish that claims nothing. */
export const plainAnswer = (text: string): Answer => ({ schemaVersion: 1, outcome: 'done', answer: text, claims: [] });
