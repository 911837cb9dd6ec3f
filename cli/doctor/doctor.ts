/** `doctor`: looks at everything that a worker and a client need, and says how to mend what is wrong. */
import type { Action } from '../context';
import type { Output } from '../output';
import { describeStack } from '../services';
import { findTargets } from '../targets';
import { checkAgents, checkBundle } from './check-agents';
import { checkDatabase } from './check-database';
import { checkEngine } from './check-engine';
import { checkModel } from './check-model';
import type { Finding } from './finding';

export interface DoctorOptions {
  readonly agents?: string;
  readonly json?: true;
}

/** Exit code 1 when something is wrong. */
export const doctor: Action<DoctorOptions> = async ({ agents, json }, { settings: load, output }) => {
  const settings = load();
  const targets = findTargets(settings);
  if (targets.stack !== undefined) output.note(describeStack(targets.stack));
  const asked = await Promise.all([
    checkDatabase(targets),
    checkEngine(targets.temporal),
    checkModel(settings, targets),
  ]);
  // Loading agents keeps the processor busy, and a connection that waits for it would look like one that is not answered.
  const loaded = await checkAgents(agents ?? settings.agents, targets);
  const findings = [...asked, loaded, checkBundle(settings.workflowBundle)];
  const isHealthy = findings.every(({ status }) => status === 'ok');
  if (json === true) output.printJson({ isHealthy, findings });
  else printFindings(findings, output);
  return isHealthy ? 0 : 1;
};

const CHECK_WIDTH = 'database'.length;

const printFindings = (findings: readonly Finding[], output: Output): void => {
  const { colors } = output;
  for (const { check, status, found, mend } of findings) {
    const mark = status === 'ok' ? colors.green('ok   ') : colors.red('wrong');
    output.print(`${mark}  ${check.padEnd(CHECK_WIDTH)}  ${found}`);
    if (mend !== undefined)
      output.print(`${' '.repeat('wrong'.length + CHECK_WIDTH + 4)}${colors.yellow(`→ ${mend}`)}`);
  }
};
