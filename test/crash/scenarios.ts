import type { Extent } from './explore.ts';
import { fullCycle, type Scenario } from './scenario.ts';
import { SCENARIOS_OF_PERSONS } from './scenarios-of-persons.ts';
import { SCENARIOS_OF_QUESTIONS } from './scenarios-of-questions.ts';
import { SCENARIOS_OF_THE_MODEL } from './scenarios-of-the-model.ts';

const SCENARIOS: readonly Scenario[] = [
  fullCycle('few'),
  fullCycle('each'),
  ...SCENARIOS_OF_THE_MODEL,
  ...SCENARIOS_OF_QUESTIONS,
  ...SCENARIOS_OF_PERSONS,
];

/** In the gate each in the commits it says; otherwise each in both ways. */
export function scenariosOf(extent: Extent): readonly Scenario[] {
  if (extent === 'gate') return SCENARIOS;
  const isPlain = ({ name }: Scenario) => name === fullCycle('few').name || name === fullCycle('each').name;
  const otherwise = SCENARIOS.filter((scenario) => !isPlain(scenario)).map<Scenario>((scenario) => {
    const commits = scenario.commits === 'few' ? 'each' : 'few';
    return { ...scenario, name: `${scenario.name}, in ${commits} commits`, commits };
  });
  return [...SCENARIOS, ...otherwise];
}

/** The gate has a minute. `PAWL_CRASH=everything` takes the time it takes. */
export function extentOf(environment: NodeJS.ProcessEnv): Extent {
  return environment.PAWL_CRASH === 'everything' ? 'everything' : 'gate';
}
