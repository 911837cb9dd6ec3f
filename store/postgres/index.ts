export { createPostgresStore } from './postgres-store';
export type { Clock } from './clock';
export type { PostgresOptions } from './connect';
export { migrate, pendingMigrations, type PendingMigration } from './migrate';
