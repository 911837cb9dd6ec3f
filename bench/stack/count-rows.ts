/** One number out of the database of a suite. */
import { Client } from 'pg';
import { z } from 'zod';
import type { BenchStack } from './bench-stack';

const COUNTED = z.tuple([z.tuple([z.coerce.number()])]);

export const countRows = async (
  { postgres }: Pick<BenchStack, 'postgres'>,
  text: string,
  values: readonly string[],
): Promise<number> => {
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  try {
    const { rows } = await client.query({ text, values: [...values], rowMode: 'array' });
    return COUNTED.parse(rows)[0][0];
  } finally {
    await client.end();
  }
};
