import type { Extent } from './explore.ts';
import { fullCycle, type Scenario } from './scenario.ts';
import { SCENARIOS_OF_PERSONS } from './scenarios-of-persons.ts';
import { SCENARIOS_OF_QUESTIONS } from './scenarios-of-questions.ts';
import { SCENARIOS_OF_THE_MODEL } from './scenarios-of-the-model.ts';

export const SCENARIOS: readonly Scenario[] = [
  fullCycle('few'),
  fullCycle('each'),
  ...SCENARIOS_OF_THE_MODEL,
  ...SCENARIOS_OF_QUESTIONS,
  ...SCENARIOS_OF_PERSONS,
];

/** The gate has a minute. `PAWL_CRASH=everything` takes the time it takes. */
export function extentOf(environment: NodeJS.ProcessEnv): Extent {
  return environment.PAWL_CRASH === 'everything' ? 'everything' : 'gate';
}
