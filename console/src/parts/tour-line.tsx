import { Compass, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useAnswer } from '../api/queries.ts';
import { useStore } from '../api/store.ts';
import type { Need } from '../api-types.ts';
import { Link } from '../app/router.tsx';
import { endTour, tour } from '../app/tour.ts';

/** Tells whoever came from the example what to press next; how things stand decides what that is. */
export function TourLine({ isAtNeeds = false }: { readonly isAtNeeds?: boolean }) {
  const isOn = useStore(tour) === 'orders';
  const { data } = useAnswer('GET /api/needs', {}, { enabled: isOn });
  if (!isOn || !data) return null;
  const question = data.items.find(({ kind }) => kind === 'unknown');
  return (
    <aside className="tour" aria-label="Tour">
      <Compass aria-hidden size={18} />
      <p>{question ? isAtNeeds ? <Look need={question} /> : <Begin /> : <Done />}</p>
      <button type="button" className="icon-button" aria-label="End the tour" title="End the tour" onClick={endTour}>
        <X aria-hidden size={16} />
      </button>
    </aside>
  );
}

function Begin(): ReactNode {
  return (
    <>
      <strong>This is the example, and all of it happened.</strong> The engine was killed in the middle of order 1003,
      and every effect was made once. Then an insurer hung up without an answer. Press{' '}
      <Link to="/needs">“1 thing needs you”</Link>.
    </>
  );
}

function Look({ need }: { readonly need: Need }): ReactNode {
  const [address] = /https?:\/\/\S+/.exec(need.call?.preview ?? '') ?? [];
  return (
    <>
      <strong>Nobody inside knows whether order 1006 is insured.</strong> Look{' '}
      {address === undefined ? (
        'there'
      ) : (
        <a href={address} target="_blank" rel="noreferrer">
          what the insurer has
        </a>
      )}
      , and press the answer that is true. Each says what it will do; nothing is sent before you press.
    </>
  );
}

function Done(): ReactNode {
  return (
    <>
      <strong>Answered, in your name.</strong> See what went out under <Link to="/outputs">Outputs</Link>, what you did
      under <Link to="/audit">Audit</Link>, and how an order goes through <Link to="/workflows/orders">orders</Link>.
      Put another into the inbox, as the terminal says, and watch it arrive.
    </>
  );
}
