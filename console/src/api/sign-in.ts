import type { LoggedIn } from '../api-types.ts';
import { type Answer, ask, NoAnswerError, request } from './ask.ts';
import { forgetHalf, hasHalf, keepHalf, who } from './credentials.ts';

const RETRY_MS = 1_000;
const CODE = /^#login=([\w-]+)$/;

/** Once, when the page is loaded: by the link that was opened, or by the session of before. */
export async function begin(): Promise<void> {
  const [, code] = CODE.exec(window.location.hash) ?? [];
  if (code !== undefined) {
    // The code is used up now; it must not stay where somebody could read it over a shoulder.
    window.history.replaceState(null, '', window.location.pathname + window.location.search);
    return enterWith(code);
  }
  if (hasHalf()) return comeBack();
  who.set({ state: 'out', why: 'new' });
}

async function enterWith(code: string): Promise<void> {
  try {
    entered(await ask('POST /api/login', {}, { body: { code } }));
  } catch {
    // The link was used before. Whoever used it here still has their session.
    if (hasHalf()) await comeBack();
    else who.set({ state: 'out', why: 'expired' });
  }
}

async function comeBack(): Promise<void> {
  try {
    who.set({ state: 'in', me: await ask('GET /api/me', {}) });
  } catch (error) {
    if (error instanceof NoAnswerError) {
      setTimeout(() => void comeBack(), RETRY_MS);
      return;
    }
    forgetHalf();
    who.set({ state: 'out', why: 'expired' });
  }
}

/** With a token; the owner's says nothing of who has it, so that a name goes with it. */
export async function signIn(token: string, name: string): Promise<void> {
  const headers = name === '' ? {} : { 'x-pawl-by': encodeURIComponent(name) };
  entered((await request('POST', '/api/login', { body: { token }, headers })) as Answer<'POST /api/login'>);
}

function entered({ csrf, ...me }: LoggedIn): void {
  keepHalf(csrf);
  who.set({ state: 'in', me });
}

export async function signOut(): Promise<void> {
  await ask('POST /api/logout', {});
  forgetHalf();
  who.set({ state: 'out', why: 'left' });
}
