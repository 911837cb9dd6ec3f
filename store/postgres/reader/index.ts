/** The reader's parts, on one pool with the rest of the store. */
import type { ReaderStore } from '../../reader';
import type { Db } from '../connect';
import { createArtifactReader } from './artifacts';
import { createOperationReader } from './operations';
import { createRunReader } from './runs';
import { createSummaryReader } from './summary';

export const createReaderStore = (db: Db): ReaderStore => ({
  ...createRunReader(db),
  ...createArtifactReader(db),
  ...createOperationReader(db),
  ...createSummaryReader(db),
});
