/** The reader's parts, on one pool with the rest of the store. */
import type { ReaderStore } from '../../reader';
import type { Db } from '../connect';
import { createArtifactReader } from './artifacts';
import { createOperationReader } from './operations';
import { createRunReader } from './runs';
import { createStepReader } from './steps';
import { createSummaryReader } from './summary';
import { createWaitReader } from './waits';

export const createReaderStore = (db: Db): ReaderStore => ({
  ...createRunReader(db),
  ...createArtifactReader(db),
  ...createOperationReader(db),
  ...createStepReader(db),
  ...createWaitReader(db),
  ...createSummaryReader(db),
});
