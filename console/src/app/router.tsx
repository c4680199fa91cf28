import { type AnchorHTMLAttributes, type MouseEvent, type ReactNode, useMemo, useSyncExternalStore } from 'react';

/** The address is the state of the page: whatever can be seen can be sent to somebody as a link. */

const listeners = new Set<() => void>();

function listen(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('popstate', listener);
  };
}

function address(): string {
  return `${window.location.pathname}${window.location.search}`;
}

export function navigate(to: string, { replace = false }: { replace?: boolean } = {}): void {
  if (to === address()) return;
  const isOtherPage = new URL(to, window.location.href).pathname !== window.location.pathname;
  if (replace) window.history.replaceState(null, '', to);
  else window.history.pushState(null, '', to);
  if (isOtherPage) window.scrollTo(0, 0);
  for (const listener of listeners) listener();
}

export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

export function usePlace(): Place {
  const at = useSyncExternalStore(listen, address);
  return useMemo(() => {
    const { pathname, searchParams } = new URL(at, 'http://here');
    return { path: pathname, query: searchParams };
  }, [at]);
}

interface LinkProps extends Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href'> {
  readonly to: string;
  readonly children?: ReactNode;
}

/** A link of the page's own: also with the middle button, in a new window, or copied, it is an ordinary one. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  function follow(event: MouseEvent<HTMLAnchorElement>): void {
    onClick?.(event);
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (event.defaultPrevented || !isPlain) return;
    event.preventDefault();
    navigate(to);
  }
  return <a {...rest} href={to} onClick={follow} />;
}

/** The names in a path such as `/runs/:id`, or undefined if it is another path. */
export function matched(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const wanted = pattern.split('/');
  const given = path.replace(/\/+$/, '').split('/');
  if (wanted.length !== given.length && !(pattern === '/' && path === '/')) return undefined;
  const names: Record<string, string> = {};
  for (const [i, part] of wanted.entries()) {
    const value = given[i] ?? '';
    if (part.startsWith(':')) names[part.slice(1)] = decoded(value);
    else if (part !== value) return undefined;
  }
  return names;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Where each thing is shown. */
export const to = {
  need: (id: string) => `/needs/${encodeURIComponent(id)}`,
  input: (id: string) => `/inputs/${id}`,
  output: (id: string) => `/outputs/${id}`,
  event: (id: string) => `/events/${id}`,
  run: (id: string) => `/runs/${id}`,
  delivery: (id: string) => `/deliveries/${id}`,
  session: (id: string) => `/sessions/${id}`,
  workflow: (name: string, part = '') => `/workflows/${encodeURIComponent(name)}${part === '' ? '' : `/${part}`}`,
  version: (name: string, id: string) => `/workflows/${encodeURIComponent(name)}/versions/${id}`,
  connection: (name: string) => `/connections?q=${encodeURIComponent(name)}`,
};

/** Ids say what they name by their first letters. */
export function addressOfId(id: string): string | undefined {
  const [prefix] = id.split('_', 1);
  switch (prefix) {
    case 'mut':
      return to.output(id);
    case 'run':
      return to.run(id);
    case 'evt':
      return to.event(id);
    case 'inp':
      return to.input(id);
    case 'dlv':
      return to.delivery(id);
    case 'ses':
      return to.session(id);
    case 'wf':
      return to.workflow(id);
    default:
      return undefined;
  }
}
