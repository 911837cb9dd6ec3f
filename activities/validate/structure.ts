/** What a candidate is as a whole: calls, one control action, or plain text. Everything else is named. */
import { isControlTool, type ControlTool } from '../../definition/runtime-tools';
import type { CandidateArtifact, CandidateCall } from '../model/candidate';
import { fail, pass, type Fault, type Judgement, type Validator } from './judgement';
import { showText } from './show-value';

export type Proposal =
  | { readonly kind: 'calls'; readonly calls: readonly CandidateCall[] }
  | { readonly kind: 'control'; readonly tool: ControlTool; readonly call: CandidateCall }
  | { readonly kind: 'text'; readonly text: string };

const TRUSTED: readonly (string | undefined)[] = ['tool_use', 'end_turn', 'stop_sequence'];
const MAX_CALLS = 32;

const judge = (candidate: CandidateArtifact): Judgement<Proposal> => {
  const { stopReason, isComplete, calls } = candidate;
  if (!isComplete || !TRUSTED.includes(stopReason)) {
    return fail(broken('candidate.incomplete', `the answer did not end properly (${stopReason ?? 'no stop reason'})`));
  }
  const [only] = calls;
  if (only === undefined) return judgeText(candidate);
  if (calls.length > MAX_CALLS) {
    return fail(
      broken('candidate.too_many_calls', `got ${String(calls.length)} calls, expected at most ${String(MAX_CALLS)}`),
    );
  }
  const twice = findDuplicate(calls.map(({ id }) => id));
  if (twice !== undefined) {
    return fail(broken('candidate.duplicate_call_id', `two calls have the id ${JSON.stringify(showText(twice))}`));
  }
  const control = calls.find(({ name }) => isControlTool(name));
  if (control === undefined) return pass({ kind: 'calls', calls });
  if (calls.length > 1 || !isControlTool(control.name)) {
    return fail(broken('candidate.control_not_alone', `${control.name} has to stand alone, without other calls`));
  }
  return pass({ kind: 'control', tool: control.name, call: only });
};

const judgeText = ({ stopReason, blocks }: CandidateArtifact): Judgement<Proposal> => {
  if (stopReason === 'tool_use') return fail(broken('candidate.no_call', 'the answer announces a call and holds none'));
  const text = blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  if (text.trim() !== '') return pass({ kind: 'text', text });
  const isThinking = blocks.some(({ type }) => type === 'thinking' || type === 'redacted_thinking');
  return isThinking
    ? fail(broken('candidate.only_thinking', 'the answer holds thinking only, expected a call or text'))
    : fail(broken('candidate.empty', 'the answer is empty, expected a call or text'));
};

const broken = (code: string, message: string): Fault => ({ code, error: 'INVALID_ARGUMENT', message });

const findDuplicate = (values: readonly string[]): string | undefined =>
  values.find((value, index) => values.indexOf(value) !== index);

export const STRUCTURE: Validator<CandidateArtifact, Proposal> = { name: 'structure', version: '1', judge };
