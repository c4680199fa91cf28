import { useQueryClient } from '@tanstack/react-query';
import { Suspense, useEffect } from 'react';
import { who } from '../api/credentials.ts';
import { keepFresh } from '../api/refresh.ts';
import { useStore } from '../api/store.ts';
import { SignIn } from '../pages/sign-in.tsx';
import { Crash } from './crash.tsx';
import { useKeys } from './keys.ts';
import { LinkBanner } from './link-banner.tsx';
import { BottomBar, Sidebar } from './nav.tsx';
import { Palette } from './palette.tsx';
import { usePlace } from './router.tsx';
import { pageAt } from './routes.tsx';
import { Shortcuts } from './shortcuts.tsx';
import { Toasts } from './toasts.tsx';

export function Shell() {
  const { state } = useStore(who);
  const client = useQueryClient();
  useEffect(() => {
    // Whoever signs in next may not be who signed out.
    if (state === 'out') client.clear();
  }, [state, client]);
  if (state === 'asking') return null;
  return (
    <>
      {state === 'in' ? <Inside /> : <SignIn />}
      <Toasts />
    </>
  );
}

function Inside() {
  const client = useQueryClient();
  const { path } = usePlace();
  useEffect(() => keepFresh(client), [client]);
  useKeys();
  return (
    <div className="shell">
      <a className="skip-link" href="#content">
        Skip to the content
      </a>
      <Sidebar />
      <main id="content" tabIndex={-1}>
        <LinkBanner />
        <Crash key={path}>
          <Suspense fallback={null}>{pageAt(path)}</Suspense>
        </Crash>
      </main>
      <BottomBar />
      <Palette />
      <Shortcuts />
    </div>
  );
}
