/** Renders the help of every command, as the program itself prints it. */
import type { Command } from 'commander';
import { createContext } from '../cli/context';
import { processOutput } from '../cli/output';
import { createProgram } from '../cli/program';

const HEAD = `# The command line

Written by \`npm run generate\`: what \`npx holdfast COMMAND --help\` prints.
`;

const WIDTH = 110;

export const renderCli = (): string => {
  // Nothing is run, so nobody asks for an exit code.
  const program = createProgram(createContext(processOutput()), () => undefined);
  return HEAD + commandsOf(program).map(renderCommand).join('');
};

/** The command itself, then all below it. */
const commandsOf = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(commandsOf)];

const renderCommand = (command: Command): string => {
  // Else the width of the terminal that generates would be in the document.
  command.configureOutput({ getOutHelpWidth: () => WIDTH });
  return `\n## ${nameOf(command)}\n\n\`\`\`text\n${command.helpInformation().trimEnd()}\n\`\`\`\n`;
};

const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;
