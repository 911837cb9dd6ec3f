import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDataDir } from '../../cli/stack/data-dir';
import { endOnExit } from '../../cli/stack/exit-handlers';
import { endLeftovers } from '../../cli/stack/leftovers';
import { startPostgres } from '../../cli/stack/postgres';
import { ProcessGroup } from '../../cli/stack/process-group';
import { startTemporalServer } from '../../cli/stack/temporal-server';

/**
 * A stack in a process of its own, for tests that kill it: `stack-parent.ts DATA_DIR SCRIPT GRACE_MS [TEMPORAL_BINARY]`.
 * Starts two children from SCRIPT and, with a binary, the real servers; tells their pids; then does what its standard
 * input says.
 */
async function main(): Promise<void> {
  const [dataDir = '', script = '', graceMs = '', temporalBinary] = process.argv.slice(2);
  const data = openDataDir(dataDir);
  const { logDir, runDir, postgresDir, temporalDatabase } = data.layout;
  const group = new ProcessGroup({ logDir, runDir, graceMs: Number(graceMs) });
  endOnExit(group, {
    onEnding: (cause) => {
      writeFileSync(join(dataDir, 'state', 'ending'), cause.kind);
    },
    onEnded: () => {
      data.release();
    },
  });
  const left = await endLeftovers(runDir);
  const pids: Record<string, number> = {};
  if (temporalBinary !== undefined) {
    const postgres = await startPostgres({ directory: postgresDir, logDir, runDir, database: 'holdfast' });
    group.add(postgres);
    const temporal = await startTemporalServer({
      binary: temporalBinary,
      logDir,
      runDir,
      databaseFile: temporalDatabase,
    });
    group.add(temporal);
    Object.assign(pids, { postgres: postgres.pid, temporal: temporal.pid });
    process.on('SIGUSR2', () => {
      postgres.freeze();
      process.stdout.write('{"frozen":true}\n');
    });
  }
  for (const name of ['first', 'second']) {
    const started = await group.startScript({ name, script, args: [name, join(dataDir, 'state', 'order')] });
    pids[name] = started.process.pid;
  }
  process.stdout.write(`${JSON.stringify({ pids, left })}\n`);
  process.stdin.on('data', (order) => {
    obey(String(order).trim());
  });
}

function obey(order: string): void {
  if (order === 'exit') process.exit(7);
  if (order === 'throw') throw new Error('nobody catches this');
  if (order === 'reject') void Promise.reject(new Error('nobody catches this'));
}

void main();
