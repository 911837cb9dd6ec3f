/** Every scenario that runs by itself: people's answers are part of it, and nothing has to be killed. */
import { MODEL_AND_ENDS } from './scenarios/model-and-ends';
import { PEOPLE } from './scenarios/people';
import type { Scenario } from './scenarios/scenario';
import { UNKNOWN_OUTCOMES } from './scenarios/unknown-outcomes';
import { WALK_THROUGH } from './scenarios/walk-through';

export type { ExpectedEffect, Scenario } from './scenarios/scenario';

export const SCENARIOS: readonly Scenario[] = [...WALK_THROUGH, ...PEOPLE, ...UNKNOWN_OUTCOMES, ...MODEL_AND_ENDS];

export const findScenario = (name: string): Scenario | undefined => SCENARIOS.find((each) => each.name === name);
