import { LogOut } from 'lucide-react';
import type { ReactNode } from 'react';
import { who } from '../api/credentials.ts';
import { useAnswer } from '../api/queries.ts';
import { signOut } from '../api/sign-in.ts';
import { useStore } from '../api/store.ts';
import { openShortcuts } from '../app/overlays.ts';
import { Page } from '../app/page.tsx';
import { ThemeSwitch } from '../app/theme-switch.tsx';
import { Backup } from '../parts/backup.tsx';
import { Channels } from '../parts/channels.tsx';
import { Doctor } from '../parts/doctor.tsx';
import { NewToken } from '../parts/new-token.tsx';
import { Notices } from '../parts/notices.tsx';
import { Retention } from '../parts/retention.tsx';
import { mayWords } from '../parts/scopes.ts';
import { Facts, Section } from '../parts/section.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { Ago } from '../parts/time.tsx';
import { Tokens } from '../parts/tokens.tsx';
import { Transfer } from '../parts/transfer.tsx';

interface SettingsPart {
  readonly label: string;
  readonly isForAdmins?: boolean;
  show(): ReactNode;
}

const PARTS: Readonly<Record<string, SettingsPart>> = {
  '': { label: 'General', show: () => <General /> },
  notifications: {
    label: 'Notifications',
    show: () => (
      <>
        <Channels />
        <Notices />
      </>
    ),
  },
  access: {
    label: 'Access',
    isForAdmins: true,
    show: () => (
      <>
        <NewToken />
        <Tokens />
      </>
    ),
  },
};

export function Settings({ part = '' }: { readonly part?: string }) {
  const isAdmin = useMe()?.scopes.includes('admin') ?? false;
  const parts = Object.entries(PARTS).filter(([, { isForAdmins }]) => isAdmin || isForAdmins !== true);
  const here = parts.find(([key]) => key === part)?.[1];
  return (
    <Page title="Settings">
      <Tabs
        label="Parts of the settings"
        here={part}
        tabs={parts.map(([key, { label }]) => ({
          key,
          label,
          address: key === '' ? '/settings' : `/settings/${key}`,
        }))}
      />
      {here?.show() ?? <p className="quiet">There is no such part, or it is not for you.</p>}
    </Page>
  );
}

function useMe() {
  const now = useStore(who);
  return now.state === 'in' ? now.me : undefined;
}

function General() {
  const me = useMe();
  const { data: health } = useAnswer('GET /api/health', {});
  const isAdmin = me?.scopes.includes('admin') ?? false;
  return (
    <>
      <Section title="You" isBoxed>
        {me && (
          <Facts
            facts={[
              ['Name', me.by],
              ['May', mayWords(me.scopes)],
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
      <Section title="This page" isBoxed>
        <div className="line">
          <span>Colours</span> <ThemeSwitch />
          <button type="button" className="button" onClick={() => openShortcuts()}>
            Keyboard <kbd>?</kbd>
          </button>
        </div>
      </Section>
      <Section title="Engine" isBoxed>
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
      <Retention mayAct={isAdmin || (me?.scopes.includes('operate') ?? false)} mayRemove={isAdmin} />
      {isAdmin && <Backup />}
      {isAdmin && <Transfer />}
    </>
  );
}
