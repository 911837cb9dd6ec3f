import type { NativeRequest } from '../native-request';
import { faultRuleSchema, type Fault, type FaultRule, type FaultRuleInput } from './fault';

interface ArmedRule {
  readonly rule: FaultRule;
  timesLeft: number;
}

/** The faults that wait for their request. The first rule that matches strikes; one request has one fault. */
export class FaultRules {
  readonly #armed: ArmedRule[] = [];

  /** @throws ZodError naming the field of the rule that is wrong */
  add(input: FaultRuleInput): void {
    const rule = faultRuleSchema.parse(input);
    this.#armed.push({ rule, timesLeft: rule.times === 'always' ? Infinity : rule.times });
  }

  take(request: NativeRequest, number: number): Fault | undefined {
    const index = this.#armed.findIndex(({ rule }) => matches(rule, request, number));
    const armed = this.#armed[index];
    if (armed === undefined) return undefined;
    armed.timesLeft -= 1;
    if (armed.timesLeft === 0) this.#armed.splice(index, 1);
    return armed.rule.fault;
  }

  clear(): void {
    this.#armed.length = 0;
  }
}

function matches(rule: FaultRule, request: NativeRequest, number: number): boolean {
  if (rule.fromRequest !== undefined && number < rule.fromRequest) return false;
  const { textIncludes } = rule;
  return textIncludes === undefined || includesText([request.system, request.messages], textIncludes);
}

function includesText(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value.includes(text);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((child) => includesText(child, text));
}
