import type { Fault } from './fault.ts';
import { COMMAND_FAULTS } from './in-commands.ts';
import { EXECUTION_FAULTS } from './in-execution.ts';
import { MUTATION_FAULTS } from './in-mutations.ts';
import { RULE_FAULTS } from './in-rules.ts';
import { RUN_FAULTS } from './in-runs.ts';
import { STORE_FAULTS } from './in-store.ts';

export const FAULTS: readonly Fault[] = [
  ...RULE_FAULTS,
  ...RUN_FAULTS,
  ...MUTATION_FAULTS,
  ...COMMAND_FAULTS,
  ...STORE_FAULTS,
  ...EXECUTION_FAULTS,
];
