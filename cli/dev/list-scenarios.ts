import type { Output } from '../output';
import type { DevExample } from './dev-example';

/** One line each; with `--json` one document. */
export const listScenarios = ({ scenarios }: DevExample, isJson: boolean, output: Output): number => {
  if (isJson) {
    output.printJson({
      scenarios: scenarios.map(({ name, id, title, agent, expected }) => ({ name, id, title, agent, expected })),
    });
    return 0;
  }
  const width = Math.max(...scenarios.map(({ name }) => name.length));
  for (const { name, id, title } of scenarios) {
    output.print(`${output.colors.bold(name.padEnd(width))}  ${output.colors.dim(id.padEnd(3))}  ${title}`);
  }
  return 0;
};
