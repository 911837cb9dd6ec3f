export { createPostgresStore } from './postgres-store';
export { migrate, pendingMigrations } from './migrate';
