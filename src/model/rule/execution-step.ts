import type { Execution } from '../rows.ts';
import { EXECUTION_STEPS, type ExecutionStatus, isStep } from '../states.ts';
import { refuse } from './refusal.ts';

export function mustStep(execution: Execution, to: ExecutionStatus): void {
  if (isStep<ExecutionStatus>(EXECUTION_STEPS, execution.status, to)) return;
  refuse(
    'wrong-state',
    `execution ${execution.id} is ${execution.status}, so it cannot become ${to}`,
    stepsFrom(execution.status),
    {
      next: [{ label: 'see what became of it', argv: ['pawl', 'show', execution.id] }],
      ids: { execution: execution.id },
    },
  );
}

function stepsFrom(status: ExecutionStatus): string {
  const steps = EXECUTION_STEPS[status];
  return steps.length === 0 ? 'that state is final' : `from there the steps are to ${steps.join(', ')}`;
}
