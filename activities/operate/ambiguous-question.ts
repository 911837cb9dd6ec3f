/** The question that the runtime asks where a target has several matches. */
import { choiceSchema } from '../../definition/response-schema';
import type { ToolErrorDetails } from '../../definition/tool-error';
import type { Json } from '../../workflows/contract/json';
import type { Question } from '../../workflows/contract/records';
import { takeStart, toWellFormed } from '../context/well-formed';
import { isJsonObject } from './storable-json';

type Match = NonNullable<ToolErrorDetails['matches']>[number];

const MAX_MATCHES = 20;
const MAX_LABEL_LENGTH = 200;
const MAX_OBJECT_LENGTH = 500;

/** The matches as a failure keeps them, so that the same question can be made from it again. */
export const toConfirmedMatches = (matches: readonly Match[]): Json => ({
  matches: matches.slice(0, MAX_MATCHES).map(({ object, label }) => ({
    object: toWellFormed(takeStart(object, MAX_OBJECT_LENGTH)),
    label: toWellFormed(takeStart(label, MAX_LABEL_LENGTH)),
  })),
  isComplete: matches.length <= MAX_MATCHES,
});

/** Undefined where the failure names no matches: there is nothing to choose from. */
export const toAmbiguousQuestion = (confirmed: Json | undefined): Question | undefined => {
  const matches = matchesOf(confirmed);
  if (matches.length === 0) return undefined;
  const candidates = [...new Set(matches.map(({ object }) => object))];
  const lines = matches.map(({ object, label }) => `- ${object}: ${label}`);
  const more = isJsonObject(confirmed ?? null) && isCut(confirmed) ? ['There are more matches than are shown.'] : [];
  return {
    schemaVersion: 1,
    question: ['Several objects match. Which one is meant?', ...lines, ...more].join('\n'),
    responseSchema: choiceSchema(candidates),
    askedBy: 'runtime',
    candidates,
  };
};

const matchesOf = (confirmed: Json | undefined): readonly Match[] => {
  if (confirmed === undefined || !isJsonObject(confirmed)) return [];
  const { matches } = confirmed;
  return Array.isArray(matches) ? matches.flatMap(matchOf) : [];
};

const matchOf = (value: Json): readonly Match[] => {
  if (!isJsonObject(value)) return [];
  const { object, label } = value;
  return typeof object === 'string' && typeof label === 'string' ? [{ object, label }] : [];
};

const isCut = (confirmed: Json | undefined): boolean =>
  confirmed !== undefined && isJsonObject(confirmed) && confirmed['isComplete'] === false;
