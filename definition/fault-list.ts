/** Collects faults while a definition is checked: nothing stops at the first one. */
import type { DefinitionFault } from './definition-error';

export interface FaultList {
  readonly faults: readonly DefinitionFault[];
  /** Adds a fault unless the statement holds. */
  readonly check: (
    isRight: boolean,
    fault: () => Pick<DefinitionFault, 'code' | 'field' | 'expected'> & { readonly got: unknown },
  ) => void;
}

const MAX_SHOWN = 120;

/** Definitions hold functions and expressions, which JSON would drop. */
const show = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (typeof value === 'function') return 'a function';
  if (value instanceof RegExp) return String(value);
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  return JSON.stringify(value).slice(0, MAX_SHOWN);
};

export const createFaultList = (where: Pick<DefinitionFault, 'agent' | 'tool'>): FaultList => {
  const faults: DefinitionFault[] = [];
  return {
    faults,
    check(isRight, describe) {
      if (isRight) return;
      const { got, ...fault } = describe();
      faults.push({ ...where, ...fault, got: typeof got === 'string' ? got : show(got) });
    },
  };
};

export const isNaturalNumber = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
export const isPositive = (value: unknown): value is number => isNaturalNumber(value) && value > 0;
