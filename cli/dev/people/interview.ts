/** Asks for the answer to a wait, question by question, as its response schema says. */
import type { WaitDetails } from '../../../client/waits';
import { fieldsOfResponse, type Control, type FormField } from '../../../client/web/waits/form-fields';
import { readForm } from '../../../client/web/waits/read-form';
import type { Json } from '../../../workflows/contract/json';
import { visible } from '../../view/format';

/** Undefined where there is nobody to answer any more, or nothing to ask. */
export type Ask = (question: string) => Promise<string | undefined>;

/**
 * Undefined where `ask` got no answer. What is not what its field expects is passed on: the judge of responses names it, the
 * same for every way in.
 */
export const interview = (wait: WaitDetails, ask: Ask): Promise<Json | undefined> =>
  wait.kind === 'approval' ? askApproval(ask) : askFields(wait, ask);

const askApproval = async (ask: Ask): Promise<Json | undefined> => {
  for (;;) {
    const word = await ask('Approve exactly this? y to approve, n to deny: ');
    if (word === undefined) return undefined;
    if (isYes(word)) return { decision: 'approve' };
    if (isNo(word)) return askReason(ask);
  }
};

const askReason = async (ask: Ask): Promise<Json | undefined> => {
  for (;;) {
    const reason = await ask('Why not? The agent is told: ');
    if (reason === undefined) return undefined;
    if (reason.trim() !== '') return { decision: 'deny', reason: reason.trim() };
  }
};

const isYes = (word: string): boolean => /^(y|yes|true)$/i.test(word.trim());
const isNo = (word: string): boolean => /^(n|no|false)$/i.test(word.trim());

const WHOLE: FormField = { name: '', label: 'Answer', hint: 'As JSON', isRequired: true, control: { kind: 'json' } };

const askFields = async ({ responseSchema }: WaitDetails, ask: Ask): Promise<Json | undefined> => {
  const fields = fieldsOfResponse(responseSchema) ?? [WHOLE];
  const values = new Map<string, readonly string[]>();
  for (const field of fields) {
    const text = await ask(questionOf(field));
    if (text === undefined) return undefined;
    values.set(field.name, toValues(field.control, text.trim()));
  }
  const form = readForm(fields, Object.fromEntries(values));
  // Text that is no JSON where JSON is asked for: passed on as text, for the judge to refuse.
  return form.kind === 'read' ? form.value : (values.get(form.fault.field)?.[0] ?? null);
};

const questionOf = ({ name, label, hint, isRequired, control }: FormField): string => {
  const words = [expectationOf(control), hint, isRequired ? undefined : 'may be left empty'];
  const about = words.filter((word) => word !== undefined).join('; ');
  const title = name === '' || name === label.toLowerCase() ? label : `${label} [${name}]`;
  return `${visible(title)} (${visible(about)}): `;
};

const expectationOf = (control: Control): string => {
  switch (control.kind) {
    case 'text':
      return 'a text';
    case 'number':
      return 'a number';
    case 'flag':
      return 'y or n';
    case 'choice':
      return `one of ${numbered(control.options)}`;
    case 'choices':
      return `any of ${numbered(control.options)}, with commas between`;
    case 'lines':
      return `${control.of}s, with commas between`;
    case 'json':
      return 'JSON';
  }
};

const numbered = (options: readonly string[]): string =>
  options.map((option, index) => `${String(index + 1)} ${option}`).join(', ');

/** As a form would send it. */
const toValues = (control: Control, text: string): readonly string[] => {
  switch (control.kind) {
    case 'flag':
      return [isYes(text) ? 'true' : isNo(text) ? 'false' : text];
    case 'choice':
      return [toOption(control.options, text)];
    case 'choices':
      return splitList(text).map((each) => toOption(control.options, each));
    case 'lines':
      return [splitList(text).join('\n')];
    default:
      return [text];
  }
};

const splitList = (text: string): readonly string[] =>
  text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');

/** By its number, unless that is an option itself. */
const toOption = (options: readonly string[], text: string): string =>
  options.includes(text) ? text : (options[Number(text) - 1] ?? text);
