import { RefreshCw } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { count } from '../words/words.ts';
import { Confirm } from './confirm.tsx';

/** Seals every secret with a new master key. */
export function RotateKey() {
  const [isAsked, setAsked] = useState(false);
  const act = useAct();

  async function rotate(): Promise<void> {
    const isDone = await act.run(
      () => ask('POST /api/rotate-key', {}, { body: {} }),
      ({ resealed, place }) => ({
        title: `${count(resealed, 'secret')} sealed anew`,
        description: `The key is from ${place}. Keep a copy of it apart from the backups.`,
      }),
    );
    if (isDone) setAsked(false);
  }

  return (
    <div className="event-acts">
      <div className="actions">
        <button type="button" className="button" aria-expanded={isAsked} onClick={() => setAsked(!isAsked)}>
          <RefreshCw aria-hidden size={15} /> Change the key
        </button>
      </div>
      {isAsked && (
        <Confirm
          label="Change the master key"
          yes="change the key"
          act={act}
          onYes={() => void rotate()}
          onNo={() => setAsked(false)}
        >
          <p>
            Every secret is sealed with a new master key; what they are stays the same, and nothing stops meanwhile. The
            key before is kept for backups made with it.
          </p>
        </Confirm>
      )}
    </div>
  );
}
