/**
 * Who may do what over HTTP. Roles are in the token; those that are not named here are passed on to the policies of agents.
 *
 *   viewer    reads
 *   approver  reads and answers waits
 *   operator  reads, starts, cancels, sends messages, resolves and reopens
 */
export const ROLES = ['viewer', 'approver', 'operator'] as const;
export type Role = (typeof ROLES)[number];

export const ACCESSES = ['read', 'respond', 'operate'] as const;
export type Access = (typeof ACCESSES)[number];

export const ROLES_FOR: Readonly<Record<Access, readonly Role[]>> = {
  read: ['viewer', 'approver', 'operator'],
  respond: ['approver'],
  operate: ['operator'],
};

export const isAllowed = (access: Access, roles: readonly string[]): boolean =>
  ROLES_FOR[access].some((role) => roles.includes(role));
