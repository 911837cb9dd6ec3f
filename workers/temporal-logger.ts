/** Temporal's log lines in the same stream and shape as ours. */
import { DefaultLogger, type LogLevel, type Logger as TemporalLogger } from '@temporalio/worker';
import type { Logger } from 'pino';

const LEVELS: Readonly<Record<LogLevel, 'trace' | 'debug' | 'info' | 'warn' | 'error'>> = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

export const toTemporalLogger = (log: Logger): TemporalLogger =>
  new DefaultLogger('TRACE', ({ level, message, meta }) => {
    log[LEVELS[level]]({ ...meta }, message);
  });
