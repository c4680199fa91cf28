import { LogOut } from 'lucide-react';
import { useState } from 'react';
import { ask } from '../api/ask.ts';
import { who } from '../api/credentials.ts';
import { useAnswer } from '../api/queries.ts';
import { signOut } from '../api/sign-in.ts';
import { useStore } from '../api/store.ts';
import type { Diagnosis } from '../api-types.ts';
import { openShortcuts } from '../app/overlays.ts';
import { Page } from '../app/page.tsx';
import { ThemeSwitch } from '../app/theme-switch.tsx';
import { Backup } from '../parts/backup.tsx';
import { Notifications } from '../parts/notifications.tsx';
import { Facts, Section } from '../parts/section.tsx';
import { Ago } from '../parts/time.tsx';
import { Tokens } from '../parts/tokens.tsx';
import { Trouble } from '../parts/trouble.tsx';

const SCOPE_WORDS = {
  read: 'look',
  operate: 'answer and act',
  edit: 'deploy',
  admin: 'everything',
} as const;

export function Settings() {
  const now = useStore(who);
  const { data: health } = useAnswer('GET /api/health', {});
  const me = now.state === 'in' ? now.me : undefined;
  const isAdmin = me?.scopes.includes('admin') ?? false;
  return (
    <Page title="Settings">
      <Section title="You">
        {me && (
          <Facts
            facts={[
              ['Name', me.by],
              [
                'May',
                me.scopes.includes('admin') ? SCOPE_WORDS.admin : me.scopes.map((each) => SCOPE_WORDS[each]).join(', '),
              ],
              ['Session ends', me.expiresAt === null ? 'never' : <Ago key="at" at={me.expiresAt} className="" />],
            ]}
          />
        )}
        <div className="actions">
          <button type="button" className="button" onClick={() => void signOut()}>
            <LogOut aria-hidden size={15} /> Sign out
          </button>
        </div>
      </Section>
      <Section title="This page">
        <div className="line">
          <span>Colours</span> <ThemeSwitch />
        </div>
        <div className="actions">
          <button type="button" className="button" onClick={() => openShortcuts()}>
            Keyboard <kbd>?</kbd>
          </button>
        </div>
      </Section>
      <Section title="Engine">
        {health && (
          <Facts
            facts={[
              ['Version', health.version],
              ['Started', <Ago key="at" at={health.startedAt} className="" />],
              ['Process', health.pid],
              ['Data folder', <code key="data">{health.dataDir}</code>],
            ]}
          />
        )}
        <Doctor />
      </Section>
      <Notifications />
      {isAdmin && <Tokens />}
      {isAdmin && <Backup />}
    </Page>
  );
}

/** Everything that must be true, looked at when somebody asks. */
function Doctor() {
  const [found, setFound] = useState<Diagnosis>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);

  async function look(): Promise<void> {
    setBusy(true);
    setError(undefined);
    try {
      setFound(await ask('GET /api/doctor', {}));
    } catch (cause) {
      setError(cause);
    }
    setBusy(false);
  }

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
          <p>Everything that must be true is: {found.items.length} things were looked at.</p>
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
