import { CircleCheck } from 'lucide-react';
import { ask } from '../api/ask.ts';
import { useLook } from '../api/look.ts';
import { Trouble } from './trouble.tsx';

/** Everything that must be true, looked at when somebody asks. */
export function Doctor() {
  const { found, error, isBusy, look } = useLook(() => ask('GET /api/doctor', {}));
  const broken = found?.items.filter(({ count }) => count > 0) ?? [];
  return (
    <>
      <div className="actions">
        <button type="button" className="button" disabled={isBusy} onClick={() => void look()}>
          {isBusy ? 'Looking…' : 'Check everything'}
        </button>
      </div>
      <div role="status">
        {found && broken.length === 0 && (
          <p className="line">
            <CircleCheck aria-hidden size={16} className="sign-good" /> Everything that must be true is:{' '}
            {found.items.length} things were looked at.
          </p>
        )}
        {broken.map(({ name, says, count }) => (
          <p key={name}>
            <strong>{name}</strong>: {says} <span className="wrong">Broken {count} times.</span>
          </p>
        ))}
        {found?.warnings.map(({ about, says }) => (
          <p key={`${about} ${says}`}>
            <strong>{about}</strong>: {says}
          </p>
        ))}
      </div>
      {error !== undefined && <Trouble error={error} />}
    </>
  );
}
