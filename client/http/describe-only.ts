/** A service without anything behind it, for its routes and their document alone. It connects to nothing. */
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import type { Store } from '../../store/store';
import { createService } from './create-service';
import type { ServiceDeps } from './service';

export const describeOnly = (): ServiceDeps =>
  createService({
    store: parseNoStore(),
    temporal: new Client({ connection: Connection.lazy() }),
    taskQueue: '',
    log: pino({ level: 'silent' }),
    closing: new AbortController().signal,
    tokens: {},
  });

// Nobody asks it for anything.
const parseNoStore = (): Store =>
  new Proxy(
    {},
    {
      get: (_, name) => {
        throw new Error(`a service that is only described has no store (${String(name)})`);
      },
    },
  ) as Store;
