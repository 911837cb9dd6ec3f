/** `holdfast serve` from its sources, as a process that a test may kill. */
import { serve } from '../../../cli/commands/serve';
import { createContext } from '../../../cli/context';
import { processOutput } from '../../../cli/output';

serve({}, createContext(processOutput()))
  .then((exitCode) => process.exit(exitCode))
  .catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exit(1);
  });
