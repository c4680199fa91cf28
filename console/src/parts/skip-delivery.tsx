import { SkipForward } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { Confirm } from './confirm.tsx';

interface SkipDeliveryProps {
  readonly id: string;
  readonly handler: string;
}

/** Leaves out the delivery that a webhook failed on. */
export function SkipDelivery({ id, handler }: SkipDeliveryProps) {
  const [isAsked, setAsked] = useState(false);
  const act = useAct();
  return (
    <div className="event-acts">
      <div className="actions">
        <button type="button" className="button" aria-expanded={isAsked} onClick={() => setAsked(!isAsked)}>
          <SkipForward aria-hidden size={15} /> Skip the delivery
        </button>
      </div>
      {isAsked && (
        <Confirm
          label="Skip the delivery"
          yes="skip the delivery"
          act={act}
          onYes={() =>
            void act.run(
              () => ask('POST /api/deliveries/{id}/skip', { id }, { body: {} }),
              () => ({ title: 'The delivery is skipped' }),
            )
          }
          onNo={() => setAsked(false)}
        >
          <p>
            It is not handed to {handler} again, nor taken a second time; the workflow goes on with the others. To try
            it again instead, mend the script and deploy it, or retry the workflow.
          </p>
        </Confirm>
      )}
    </div>
  );
}
