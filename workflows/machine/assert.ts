/** A broken invariant of ours. It fails the workflow task, not the run: a mended build goes on where this one stopped. */
export class MachineAssertion extends Error {
  override readonly name = 'MachineAssertion';
}

export function assertMachine(holds: boolean, message: string): asserts holds {
  if (!holds) throw new MachineAssertion(message);
}

export const assertNever = (value: never): never => {
  throw new MachineAssertion(`unhandled case: ${JSON.stringify(value)}`);
};
