/** A table as Markdown writes it, line by line. */
export const toTable = (
  columns: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): readonly string[] => [columns, columns.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
