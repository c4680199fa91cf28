import type { Fault } from '../../faults/fault.ts';

const RETRY = 'src/model/decide/create-retry-run.ts';
const WORK = 'src/model/rule/work.ts';

/** Rules that have other guards before them, which no session gets past: here those are gone as well. */
export const GUARDED_FAULTS: readonly Fault[] = [
  {
    name: 'a run is retried while nobody knows whether its call happened, and nobody looks before that',
    file: RETRY,
    find: "    case 'unknown':\n      return refuse(",
    replace: "    case 'unknown':\n      if (run.status !== 'active') return 'emitting';\n      return refuse(",
    also: [{ file: WORK, find: "return boundary === 'after' ||", replace: "return boundary !== 'before' ||" }],
  },
  {
    name: 'a recorded call is sent although nobody approved it, and no hold stands before it',
    file: RETRY,
    find: "if (ledger?.approvedAt != null) return 'mutating';",
    replace: "if (ledger) return 'mutating';",
    also: [
      { file: WORK, find: 'return ledger?.approvedAt != null;', replace: 'return ledger !== undefined;' },
      {
        file: WORK,
        find: "return workflow.status === 'active' && !workflow.maintenance;",
        replace:
          "return (workflow.holds.join() === 'approval' ? !workflow.grantMissing : workflow.status === 'active') && !workflow.maintenance;",
      },
      {
        file: 'src/model/meaning.ts',
        find: "(m) => m.status === 'pending' && m.approvedAt !== null, {",
        replace: "(m) => m.status === 'pending', {",
      },
    ],
  },
];
