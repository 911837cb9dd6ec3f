/** A wait as people read it before they answer. Everything in it is from outside: the client has made it visible. */
import type { ShownOperation, ShownPlan } from '../../client/shown-plan';
import type { WaitDetails } from '../../client/waits';
import type { Output } from '../output';
import { formatDuration, formatTime, indent, visible } from './format';

type Colors = Output['colors'];

export const waitDocument = ({ openedAt, expiresAt, responses, ...wait }: WaitDetails): object => ({
  ...wait,
  openedAt: formatTime(openedAt),
  expiresAt: formatTime(expiresAt),
  responses: responses.map(({ receivedAt, ...response }) => ({ ...response, receivedAt: formatTime(receivedAt) })),
});

export const renderWait = (wait: WaitDetails, colors: Colors): readonly string[] => [
  `${colors.bold(wait.kind)} ${wait.wait}  ${wait.state === 'OPEN' ? colors.yellow('OPEN') : wait.state}`,
  field('run', `${wait.run}, ${visible(wait.agent)}, for ${visible(wait.requester)}`),
  field('goal', visible(wait.goal)),
  field('opened', formatTime(wait.openedAt)),
  field('expires', `${formatTime(wait.expiresAt)}${describeRemaining(wait)}`),
  ...(wait.reason === undefined ? [] : [field('reason', visible(wait.reason))]),
  '',
  ...renderPlan(wait.plan, colors),
  ...(wait.plan.isComplete ? [] : [colors.red('This is not all of it: read the whole plan before you decide.')]),
  '',
  field('answer by', visible(JSON.stringify(wait.responseSchema))),
  ...(wait.argumentSchema === undefined ? [] : [field('arguments', 'may be others: --arguments')]),
  ...(wait.state === 'OPEN' && !wait.mayRespond
    ? [colors.yellow('You may not answer it, by the policy known here.')]
    : []),
  ...wait.responses.map(({ receivedAt, principal, verdict, id }) =>
    field('response', `${formatTime(receivedAt)} ${visible(principal.subject)}: ${verdict} (${visible(id)})`),
  ),
  ...(wait.response === undefined ? [] : [field('decided', visible(JSON.stringify(wait.response)))]),
];

const LABEL_WIDTH = 'answer by'.length;

const field = (label: string, value: string): string => `${label.padEnd(LABEL_WIDTH)}  ${value}`;

const describeRemaining = ({ state, remainingMs }: WaitDetails): string =>
  state === 'OPEN' ? ` (in ${formatDuration(remainingMs)})` : '';

const renderPlan = (plan: ShownPlan, colors: Colors): readonly string[] => {
  if (plan.kind === 'question') {
    const candidates = (plan.candidates ?? []).map((candidate) => `  - ${visible(candidate)}`);
    return [visible(plan.question), ...candidates];
  }
  return [
    visible(plan.why),
    ...(plan.diagnosis === undefined
      ? []
      : [`${plan.diagnosis.rule}: ${visible(plan.diagnosis.what)} (steps ${plan.diagnosis.steps.join(', ')})`]),
    ...plan.operations.flatMap((operation) => renderOperation(operation, colors)),
    ...(plan.previous === undefined ? [] : [`before: ${visible(JSON.stringify(plan.previous))}`]),
  ];
};

const renderOperation = (operation: ShownOperation, colors: Colors): readonly string[] => {
  const { tool, risk, target, expectedVersion, repeats } = operation;
  const version = expectedVersion === undefined ? '' : ` at version ${visible(expectedVersion)}`;
  return [
    `${colors.bold(visible(tool))}${target === undefined ? '' : ` on ${visible(target)}${version}`}, risk ${visible(risk)}`,
    ...(repeats === undefined ? [] : [indent(`repeats ${repeats}`, 2)]),
    indent(
      visible(operation.isComplete ? JSON.stringify(operation.arguments, undefined, 2) : operation.argumentsJson),
      2,
    ),
  ];
};
