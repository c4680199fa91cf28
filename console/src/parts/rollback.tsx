import { Undo2 } from 'lucide-react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import type { Ask, Version } from '../api-types.ts';
import { Asks } from './asks.tsx';
import { Confirm } from './confirm.tsx';
import { Opens } from './opens.tsx';

interface RollbackProps {
  readonly workflow: string;
  readonly version: Version;
  /** What it asks for and nobody has allowed. */
  readonly missing: readonly Ask[];
}

/** Lets an earlier version take over again. */
export function Rollback({ workflow, version, missing }: RollbackProps) {
  const act = useAct();
  if (version.active) return null;

  async function press(close: () => void): Promise<void> {
    const isDone = await act.run(
      () => ask('POST /api/workflows/{workflow}/rollback', { workflow }, { body: { version: version.id } }),
      (answer) =>
        answer.activated
          ? { title: `Version ${answer.version} is active`, description: answer.sentence }
          : {
              title: `Version ${answer.version} waits`,
              description: 'It asks for more than the workflow may do, and somebody must allow that first.',
            },
    );
    if (isDone) close();
  }

  return (
    <Opens icon={Undo2} label="Let it take over">
      {(close) => (
        <Confirm
          label="Let it take over"
          yes={`go to version ${version.version}`}
          act={act}
          onYes={() => void press(close)}
          onNo={close}
        >
          <p>Version {version.version} takes over again; what runs now ends under its own version.</p>
          {missing.length > 0 && (
            <>
              <p>With it you allow, in your name:</p>
              <Asks label="What you allow with it" asks={missing.map((ask) => ({ ask, sign: '+' }))} />
            </>
          )}
        </Confirm>
      )}
    </Opens>
  );
}
