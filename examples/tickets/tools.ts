/** The tools of the tickets example, for one desk. */
import type { Tool } from '../../index';
import { DEFAULT_WRITE_TIMES, type WriteContract, type WriteTimes } from './tools/contract';
import { createDeskApi } from './tools/desk-api';
import { createReadTools } from './tools/reads';
import { createWriteTools } from './tools/writes';

export interface TicketToolOptions {
  /** Base address of the desk. */
  readonly deskUrl: string;
  /** What the writes declare to rely on; 'key and look-up' is what the desk really offers. */
  readonly contract?: WriteContract;
  readonly times?: Partial<WriteTimes>;
}

export const createTicketTools = ({
  deskUrl,
  contract = 'key and look-up',
  times = {},
}: TicketToolOptions): readonly Tool[] => {
  const desk = createDeskApi(deskUrl);
  return [
    ...createReadTools(desk),
    ...createWriteTools({ desk, contract, times: { ...DEFAULT_WRITE_TIMES, ...times } }),
  ];
};
