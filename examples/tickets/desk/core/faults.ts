/**
 * What tests make the desk do wrong. A rule waits for requests to a route and fires a number of times.
 *
 * Rules are asked in the order of their adding, each kind when its moment in a request comes: a delay, then what becomes
 * of the request, then (only where a write is really done) whether it is a job, then how that job calls back, and last
 * the body of an answer. One rule fires at each moment, and a rule behind it does not see the request. So two rules for
 * the same moment act one after the other, and rules for different moments meet in one request.
 */
import { z } from 'zod';
import { callbackModeSchema, jobOutcomeSchema } from './model';
import { DeskProblem } from './problem';

const MAX_RULES = 1_000;
const delayMsSchema = z.number().int().min(0).max(86_400_000);

export const WRITE_ROUTES = ['reassign', 'comment', 'close'] as const;
const READ_ROUTES = ['get_ticket', 'list', 'rules', 'teams', 'lookup', 'job', 'jobs', 'cancel_job'] as const;
const routeSchema = z.enum([...WRITE_ROUTES, ...READ_ROUTES]);
export type Route = z.infer<typeof routeSchema>;

const matchSchema = z
  .object({
    /** `write` is any of reassign, comment and close; `any` is every route. */
    route: z.enum([...routeSchema.options, 'write', 'any']),
    ticket: z.string().optional(),
    key: z.string().optional(),
  })
  .strict();

const contentSchema = z.union([
  z.object({ text: z.string() }).strict(),
  z.object({ base64: z.base64() }).strict(),
  /** That many letters, for a body that is too large to be put into a rule. */
  z.object({ fillBytes: z.number().int().min(0).max(64_000_000) }).strict(),
]);
export type BodyContent = z.infer<typeof contentSchema>;

const faultSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('drop-before-apply') }).strict(),
  z.object({ kind: z.literal('apply-then-drop') }).strict(),
  z.object({ kind: z.literal('apply-late'), delayMs: delayMsSchema }).strict(),
  z.object({ kind: z.literal('hold-then-apply'), delayMs: delayMsSchema }).strict(),
  z.object({ kind: z.literal('apply-then-hold'), delayMs: delayMsSchema }).strict(),
  z.object({ kind: z.literal('hang') }).strict(),
  z
    .object({
      kind: z.literal('status'),
      status: z.number().int().min(400).max(599),
      retryAfter: z.union([z.number().int().min(0), z.string()]).optional(),
      code: z
        .string()
        .regex(/^[a-z_]+$/)
        .optional(),
      /** Does the work all the same, and only then lies about it. */
      applied: z.boolean().default(false),
    })
    .strict(),
  z.object({ kind: z.literal('slow'), delayMs: delayMsSchema }).strict(),
  z
    .object({
      kind: z.literal('accept-job'),
      runMs: delayMsSchema.optional(),
      manual: z.boolean().default(false),
      cancellable: z.boolean().default(true),
      outcome: jobOutcomeSchema.default('done'),
    })
    .strict(),
  callbackModeSchema.extend({ kind: z.literal('callback') }).strict(),
  z
    .object({
      kind: z.literal('body'),
      content: contentSchema,
      status: z.number().int().min(200).max(599).optional(),
      contentType: z.string().optional(),
    })
    .strict(),
]);
export type Fault = z.infer<typeof faultSchema>;
export type OutcomeFault = Exclude<Fault, { kind: 'slow' | 'accept-job' | 'callback' | 'body' }>;
type FaultOf<Kind extends Fault['kind']> = Extract<Fault, { kind: Kind }>;

/** The moments of a request at which a fault may act. */
export const isDelay = (fault: Fault): fault is FaultOf<'slow'> => fault.kind === 'slow';
export const isJob = (fault: Fault): fault is FaultOf<'accept-job'> => fault.kind === 'accept-job';
export const isCallback = (fault: Fault): fault is FaultOf<'callback'> => fault.kind === 'callback';
export const isBody = (fault: Fault): fault is FaultOf<'body'> => fault.kind === 'body';
export const isOutcome = (fault: Fault): fault is OutcomeFault =>
  ![isDelay, isJob, isCallback, isBody].some((isOther) => isOther(fault));

const WRITE_ONLY: ReadonlySet<Fault['kind']> = new Set([
  'apply-then-drop',
  'apply-late',
  'hold-then-apply',
  'apply-then-hold',
  'accept-job',
  'callback',
]);

export const faultRuleSchema = z
  .object({
    match: matchSchema,
    times: z.union([z.number().int().min(1), z.literal('always')]).default(1),
    /** Lets that many matching requests pass first. */
    skip: z.number().int().min(0).default(0),
    fault: faultSchema,
  })
  .strict()
  .refine(({ match, fault }) => !WRITE_ONLY.has(fault.kind) || isWriteMatch(match.route), {
    path: ['match', 'route'],
    error: 'this fault needs a route that writes: reassign, comment, close or write',
  });
export type FaultRule = z.infer<typeof faultRuleSchema>;
export type FaultRuleInput = z.input<typeof faultRuleSchema>;

export interface FaultTarget {
  readonly route: Route;
  readonly ticket?: string | undefined;
  readonly key?: string | undefined;
}

/** A rule in force: how many matching requests reached it, and in how many it fired. */
export interface ListedRule extends FaultRule {
  readonly id: number;
  readonly seen: number;
  readonly fired: number;
}

export class FaultBook {
  #rules: ListedRule[] = [];
  #added = 0;

  get rules(): readonly ListedRule[] {
    return this.#rules;
  }

  add(rule: FaultRule): ListedRule {
    if (this.#rules.length >= MAX_RULES) {
      throw new DeskProblem({
        status: 422,
        code: 'too_many_fault_rules',
        detail: `there are ${String(MAX_RULES)} fault rules already`,
      });
    }
    this.#added += 1;
    const listed: ListedRule = { ...rule, id: this.#added, seen: 0, fired: 0 };
    this.#rules.push(listed);
    return listed;
  }

  clear(): void {
    this.#rules = [];
  }

  /** The fault for this moment of the request, if a rule has one: it is then one use nearer to its end. */
  take<Wanted extends Fault>(isWanted: (fault: Fault) => fault is Wanted, target: FaultTarget): Wanted | undefined {
    let taken: Wanted | undefined;
    this.#rules = this.#rules.map((rule) => {
      if (taken || !isWanted(rule.fault) || isUsedUp(rule) || !isMatching(rule, target)) return rule;
      const seen = rule.seen + 1;
      if (seen <= rule.skip) return { ...rule, seen };
      taken = rule.fault;
      return { ...rule, seen, fired: rule.fired + 1 };
    });
    return taken;
  }
}

function isWriteMatch(route: Route | 'write' | 'any'): boolean {
  return route === 'write' || WRITE_ROUTES.some((write) => write === route);
}

const isUsedUp = (rule: ListedRule): boolean => rule.times !== 'always' && rule.fired >= rule.times;

function isMatching({ match }: ListedRule, target: FaultTarget): boolean {
  const routeMatches =
    match.route === 'any' || match.route === target.route || (match.route === 'write' && isWriteMatch(target.route));
  return (
    routeMatches &&
    (match.ticket === undefined || match.ticket === target.ticket) &&
    (match.key === undefined || match.key === target.key)
  );
}
