/** Whether somebody who may has named a thing: the task, the person's messages and answers. Never what a tool returned. */
import type { FactsView } from '../../definition/agent';
import type { Json } from '../../workflows/contract/json';
import { isJsonObject } from '../operate/storable-json';
import type { JudgeContext } from './judgement';

/** All texts in a value, keys left out. */
export const leavesOf = (value: Json): readonly string[] => {
  if (typeof value === 'string') return [value];
  if (isJsonObject(value)) return Object.values(value).flatMap(leavesOf);
  return isList(value) ? value.flatMap(leavesOf) : [];
};

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);

/** Facts from a person's response have its evidence. */
export const responseLeaves = (facts: FactsView): readonly string[] =>
  facts.all.filter(({ evidence }) => evidence.startsWith('W')).flatMap(({ value }) => leavesOf(value));

export const isNamedByPerson = ({ task, facts, messages }: JudgeContext, id: string): boolean => {
  const { goal, data } = task;
  return (
    leavesOf(data).includes(id) ||
    responseLeaves(facts).includes(id) ||
    [goal, ...messages.flatMap(leavesOf)].some((text) => namesWord(text, id))
  );
};

const WORD_CHARACTER = /[\p{L}\p{N}_]/u;

/** As a whole word: `T100` is not named by `T1000`. */
const namesWord = (text: string, word: string): boolean => {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const before = text.slice(0, at).at(-1) ?? '';
    const after = text.slice(at + word.length).at(0) ?? '';
    if (!WORD_CHARACTER.test(before) && !WORD_CHARACTER.test(after)) return true;
  }
  return false;
};
