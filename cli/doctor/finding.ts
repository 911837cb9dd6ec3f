/** One thing that a doctor looked at. */
export interface Finding {
  readonly check: 'database' | 'engine' | 'model' | 'agents' | 'bundle';
  readonly status: 'ok' | 'wrong';
  /** What was found, in words. */
  readonly found: string;
  /** What to do about it, on `wrong`. */
  readonly mend?: string;
}

export const ok = (check: Finding['check'], found: string): Finding => ({ check, status: 'ok', found });

export const wrong = (check: Finding['check'], found: string, mend: string): Finding => ({
  check,
  status: 'wrong',
  found,
  mend,
});
