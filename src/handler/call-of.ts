import { shownText } from '#base';
import { CallRefused, type Permits } from '#ledger';
import type { Call } from '#model';
import type { DrivenHost, DrivenRun } from './handler-host.ts';

interface Asked {
  readonly connection: string;
  readonly method: string;
  readonly params: string;
}

/** Why there is no call: the script asked for what it may not, or it was refused before it was one. */
export interface Uncalled {
  readonly problem: string | CallRefused;
}

/** The script's one call as the host will send it: checked, shown in the host's words, with what the model must know of it. */
export async function callOf(
  host: Pick<DrivenHost, 'scripts' | 'ledger'> & { readonly permits?: Permits | undefined },
  run: Pick<DrivenRun, 'scriptId' | 'workflowId'>,
  asked: Asked,
  title: string | null,
): Promise<Call | Uncalled> {
  const { uses } = (await host.scripts.get(run.scriptId)).manifest;
  if (uses[asked.connection] === undefined)
    return { problem: `mutate calls ${asked.connection}, which the workflow does not use` };
  try {
    const call = await host.ledger.describe(
      run.workflowId,
      asked.connection,
      asked.method,
      asked.params,
      title,
      host.permits,
    );
    return { ...call, preview: shownText(call.preview) };
  } catch (error) {
    if (error instanceof CallRefused) return { problem: error };
    throw error;
  }
}
