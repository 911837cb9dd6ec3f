import type { Migration } from 'kysely';

export interface StoreMigration extends Migration {
  /** True where code of the release before cannot work on the schema after it: such a release needs all workers stopped. */
  readonly isBreaking: boolean;
}
