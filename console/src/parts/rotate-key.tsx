import { RefreshCw } from 'lucide-react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { count } from '../words/words.ts';
import { Confirm } from './confirm.tsx';
import { Opens } from './opens.tsx';

/** Seals every secret with a new master key. */
export function RotateKey() {
  const act = useAct();

  async function rotate(close: () => void): Promise<void> {
    const isDone = await act.run(
      () => ask('POST /api/rotate-key', {}, { body: {} }),
      ({ resealed, place }) => ({
        title: `${count(resealed, 'secret')} sealed anew`,
        description: `The key is from ${place}. Keep a copy of it apart from the backups.`,
      }),
    );
    if (isDone) close();
  }

  return (
    <Opens icon={RefreshCw} label="Change the key">
      {(close) => (
        <Confirm
          label="Change the master key"
          yes="change the key"
          act={act}
          onYes={() => void rotate(close)}
          onNo={close}
        >
          <p>
            Every secret is sealed with a new master key; what they are stays the same, and nothing stops meanwhile. The
            key before is kept for backups made with it.
          </p>
        </Confirm>
      )}
    </Opens>
  );
}
