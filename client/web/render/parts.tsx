/** Small things that several pages show. */
import type { Child } from 'hono/jsx';
import { formatDuration } from '../../views/format';
import {
  KIND_WORDS,
  STATE_WORDS,
  WAIT_STATE_WORDS,
  type RunState,
  type Tone,
  type WaitKind,
  type WaitState,
} from '../words';

export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children?: Child }) => (
  <span class={`badge ${tone}`}>{children}</span>
);

export const StateBadge = ({ state }: { readonly state: RunState }) => (
  <Badge tone={STATE_WORDS[state].tone}>{state}</Badge>
);

export const KindBadge = ({ kind }: { readonly kind: WaitKind }) => <Badge tone="calm">{KIND_WORDS[kind].name}</Badge>;

export const WaitStateBadge = ({ state }: { readonly state: WaitState }) => {
  const { tone, name } = WAIT_STATE_WORDS[state];
  return <Badge tone={tone}>{name}</Badge>;
};

const RISK_TONES: Readonly<Record<string, Tone>> = { low: 'calm', medium: 'warn', high: 'bad' };

export const Risk = ({ risk }: { readonly risk: string }) => (
  <Badge tone={RISK_TONES[risk] ?? 'warn'}>{risk} risk</Badge>
);

/** Above a heading: where one came from. */
export const Back = ({ to, children }: { readonly to: string; readonly children?: Child }) => (
  <p class="back">
    <a href={to}>{children}</a>
  </p>
);

/** In UTC, as everything that is recorded. */
export const Moment = ({ at }: { readonly at: string }) => <time datetime={at}>{describeMoment(at)}</time>;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

export const describeMoment = (at: string): string => {
  const [date = '', time = ''] = at.split('T');
  const [year = '', month = '', day = ''] = date.split('-');
  return `${String(Number(day))} ${MONTHS[Number(month) - 1] ?? month} ${year}, ${time.slice(0, 8)} UTC`;
};

export const Ago = ({ at, nowMs }: { readonly at: string; readonly nowMs: number }) => (
  <time datetime={at} title={describeMoment(at)}>
    {describeAgo(nowMs - Date.parse(at))}
  </time>
);

const describeAgo = (ms: number): string => (ms < 5_000 ? 'just now' : `${formatRough(ms)} ago`);

/** Without fractions: for times that go on while they are read. */
export const formatRough = (ms: number): string => {
  if (ms < 60_000) return `${Math.max(0, Math.floor(ms / 1000))} s`;
  return formatDuration(ms).replace(/ 0 (?:s|min|h)$/, '');
};

/** Counts down in the browser; what it says first is the database's word. */
export const TimeLeft = ({ remainingMs }: { readonly remainingMs: number }) => (
  <span class={remainingMs < 300_000 ? 'left soon' : 'left'} data-remaining-ms={String(remainingMs)}>
    {remainingMs === 0 ? 'expired' : `${formatRough(remainingMs)} left`}
  </span>
);

export const Notice = (props: {
  readonly tone: Tone;
  readonly title: string;
  readonly isUrgent?: boolean;
  readonly children?: Child;
}) => (
  <div class={`notice ${props.tone}`} role={props.isUrgent === true ? 'alert' : 'status'}>
    <strong>{props.title}</strong>
    {props.children}
  </div>
);

export interface TermProps {
  readonly name: string;
  readonly children?: Child;
}

export const Term = ({ name, children }: TermProps) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
);

export const RunLink = ({ run }: { readonly run: string }) => (
  <a href={`/runs/${run}`}>
    <code>{run}</code>
  </a>
);
