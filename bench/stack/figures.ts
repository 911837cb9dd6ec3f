/** What is made of many measured values. */

/** The smallest value that so many of them (0 to 1) do not exceed. */
const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)] ?? 0;
};

export const median = (values: readonly number[]): number => quantile(values, 0.5);
export const p99 = (values: readonly number[]): number => quantile(values, 0.99);

export const round = (value: number, digits = 2): number => Number(value.toFixed(digits));
