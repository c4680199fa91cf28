import type { WorkerId } from '#base';
import type { Engine } from '#execution';
import { INVARIANTS } from '#model';
import { limitWarnings } from './limits.ts';
import { presenceOf } from './presence.ts';
import { type Symptom, symptomsOf } from './symptoms.ts';
import type { Takers } from './takers.ts';
import { type NamedWorkflow, unknownWorkflows } from './unknown-workflows.ts';

/** One thing that was looked at, with whatever is not as it should be. */
interface Finding {
  /** What must be true of the rows, or what people find when processes do not work together. */
  readonly kind: 'invariant' | 'symptom';
  readonly name: string;
  readonly says: string;
  readonly count: number;
  readonly offenders: readonly object[];
}

export interface Diagnosis {
  readonly ok: boolean;
  readonly items: readonly Finding[];
  /** How many rows there are of what people know. */
  readonly counts: Readonly<Record<string, number>>;
  /** What breaks nothing, and somebody should see to. */
  readonly warnings: readonly { readonly about: string; readonly says: string }[];
}

/** Whoever should be at work there, as far as the one who asks knows. */
interface AtWork {
  readonly now: number;
  /** Alive, whatever its lease says. */
  readonly self?: WorkerId | undefined;
  readonly poolOf: Takers['poolOf'];
  /** As a config says; without one nothing is compared. */
  readonly limits?: ReadonlyMap<string, number> | undefined;
  /** The workflows it names, and where. */
  readonly named?: readonly NamedWorkflow[];
}

type Reader = Engine['reader'];

const OFFENDERS_SHOWN = 100;

/** Everything that must be true. Of tables that nobody is meant to work on only the rows are looked at. */
export async function diagnosisOf(reader: Reader, atWork?: AtWork): Promise<Diagnosis> {
  const rules = await Promise.all(
    INVARIANTS.map(async ({ name, says, sql }) =>
      finding('invariant', { name, says, offenders: await reader.offenders(sql) }),
    ),
  );
  const { symptoms, warnings } = atWork ? await atWorkOf(reader, atWork) : NOBODY_MEANT;
  const items = [...rules, ...symptoms.map((symptom) => finding('symptom', symptom))];
  return { ok: items.every(({ count }) => count === 0), items, counts: await countsOf(reader), warnings };
}

interface FoundAtWork {
  readonly symptoms: readonly Symptom[];
  readonly warnings: Diagnosis['warnings'];
}

const NOBODY_MEANT: FoundAtWork = { symptoms: [], warnings: [] };

async function atWorkOf(reader: Reader, { now, self, poolOf, limits, named = [] }: AtWork): Promise<FoundAtWork> {
  const { missed, silent } = await presenceOf(reader, now, self);
  return {
    symptoms: [...(await symptomsOf(reader, now, poolOf, self)), missed],
    warnings: [...silent, ...(await limitWarnings(reader, now, limits)), ...(await unknownWorkflows(reader, named))],
  };
}

function finding(kind: Finding['kind'], found: Pick<Finding, 'name' | 'says' | 'offenders'>): Finding {
  const { name, says, offenders } = found;
  return { kind, name, says, count: offenders.length, offenders: offenders.slice(0, OFFENDERS_SHOWN) };
}

const COUNTED = ['workflows', 'scripts', 'handler_runs', 'events', 'mutations', 'inputs'] as const;

export async function countsOf(reader: Reader): Promise<Readonly<Record<string, number>>> {
  const rows = await Promise.all(
    COUNTED.map(async (table) => [table, Number((await reader.offenders(`SELECT count(*) AS n FROM ${table}`))[0]?.n)]),
  );
  return Object.fromEntries(rows);
}
