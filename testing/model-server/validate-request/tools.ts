import { invalidRequest } from '../api-error';
import type { NativeRequest } from '../native-request';
import { findSchemaFault } from './tool-schema';

const NAME = /^[a-zA-Z0-9_-]{1,128}$/;

export function checkTools(request: NativeRequest): void {
  const tools = request.tools ?? [];
  const names = new Set<string>();
  tools.forEach((tool, index) => {
    const where = `tools.${index}.custom`;
    if (!NAME.test(tool.name)) {
      throw invalidRequest(`${where}.name: String should match pattern '${NAME.source}'`);
    }
    if (names.has(tool.name)) throw invalidRequest('tools: Tool names must be unique.');
    names.add(tool.name);
    const fault = findSchemaFault(tool.input_schema);
    if (fault !== undefined) throw invalidRequest(`${where}.${fault}`);
  });
  checkToolChoice(request, names);
}

function checkToolChoice({ tool_choice: choice, thinking }: NativeRequest, names: ReadonlySet<string>): void {
  if (choice === undefined || choice.type === 'none') return;
  if (names.size === 0) throw invalidRequest('tool_choice: may only be specified while providing tools');
  if (choice.type === 'tool' && !names.has(choice.name)) {
    throw invalidRequest(`tool_choice: Tool '${choice.name}' not found in provided tools`);
  }
  const thinks = thinking?.type === 'enabled' || thinking?.type === 'adaptive';
  if (thinks && choice.type !== 'auto') {
    throw invalidRequest('Thinking may not be enabled when tool_choice forces tool use.');
  }
}
