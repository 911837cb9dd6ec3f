/** One write at the desk as a tool: a request under the runtime's key, a look-up, a job, and what it confirms. */
import type { z } from 'zod';
import { defineTool, type ExecuteResult, type Risk, type Tool, type ToolContext } from '../../../index';
import { readDeskCallback } from './callback';
import { declareContract, sendsKey, type WriteContract, type WriteTimes } from './contract';
import { parseReply, type DeskApi, type DeskReply } from './desk-api';
import { acceptedShape, receiptShape, type DeskEffect } from './desk-shapes';
import { ticketObject, writeFacts, type Written } from './facts';
import { cancelJob, lookUpByJob, lookUpByKey } from './look-up';

export interface WriteOptions {
  readonly desk: DeskApi;
  readonly contract: WriteContract;
  readonly times: WriteTimes;
}

export interface DeskWrite<Input extends z.ZodType<{ readonly ticket: string }>, Output extends z.ZodType<Written>> {
  readonly name: string;
  readonly description: string;
  readonly risk: Risk;
  readonly inputSchema: Input;
  readonly outputSchema: Output;
  /** Last part of `/tickets/:id/…`. */
  readonly route: 'reassign' | 'comments' | 'close';
  readonly toBody: (input: z.output<Input>) => Readonly<Record<string, string>>;
  /** From the effect, which a receipt, a look-up and a finished job show alike. */
  readonly toOutput: (effect: DeskEffect) => z.input<Output>;
  /** The ticket's fields that it sets. */
  readonly toFields: (output: z.output<Output>) => Readonly<Record<string, string>>;
  /** Whether it rests on what the ticket said when it was read. */
  readonly restsOnVersion: boolean;
}

const EXPECTED_DURATION_MS = 60_000;

export const defineDeskWrite = <
  Input extends z.ZodType<{ readonly ticket: string }>,
  Output extends z.ZodType<Written>,
>(
  { desk, contract, times }: WriteOptions,
  write: DeskWrite<Input, Output>,
): Tool => {
  const { name, description, risk, inputSchema, outputSchema, toOutput } = write;
  return defineTool({
    ...declareContract<z.output<Input>, z.input<Output>>(contract, times, (_input, context) =>
      lookUpByKey(desk, context, toOutput),
    ),
    name,
    description,
    effect: 'write',
    risk,
    inputSchema,
    outputSchema,
    timeoutMs: times.timeoutMs,
    target: ({ ticket }) => ({ object: ticketObject(ticket) }),
    execute: async (input, context) => {
      const reply = await desk.send(`/tickets/${encodeURIComponent(input.ticket)}/${write.route}`, {
        method: 'POST',
        body: write.toBody(input),
        headers: headersOf(context, { sendsKey: sendsKey(contract), restsOnVersion: write.restsOnVersion }),
        signal: context.signal,
      });
      return toResult(reply, toOutput);
    },
    expectedDurationMs: EXPECTED_DURATION_MS,
    poll: {
      everyMs: times.pollEveryMs,
      limitMs: times.pollLimitMs,
      check: (_input, context) => lookUpByJob(desk, context, toOutput),
    },
    cancel: (_input, context) => cancelJob(desk, context),
    readCallback: (body, _input, context) => readDeskCallback(body, context, toOutput),
    facts: (output) => writeFacts(output, write.toFields(output)),
  });
};

const headersOf = (
  { idempotencyKey, expectedVersion, callbackUrl }: ToolContext,
  options: { readonly sendsKey: boolean; readonly restsOnVersion: boolean },
): Readonly<Record<string, string>> => ({
  ...(options.sendsKey ? { 'Idempotency-Key': idempotencyKey } : {}),
  ...(options.restsOnVersion && expectedVersion !== undefined ? { 'If-Match': `"${expectedVersion}"` } : {}),
  ...(callbackUrl === undefined ? {} : { 'Callback-Url': callbackUrl }),
});

const ACCEPTED = 202;

const toResult = <Output>(reply: DeskReply, toOutput: (effect: DeskEffect) => Output): ExecuteResult<Output> => {
  if (reply.status === ACCEPTED) {
    return { kind: 'accepted', job: parseReply(acceptedShape, reply).job, raw: reply.text };
  }
  return { kind: 'done', output: toOutput(parseReply(receiptShape, reply).effect), raw: reply.text };
};
