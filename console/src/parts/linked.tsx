import type { ReactNode } from 'react';
import { addressOfId, Link } from '../app/router.tsx';
import { IDS, shortId } from '../words/ids.ts';

/** A sentence of the engine: ids in it lead to what they name. */
export function Linked({ text }: { readonly text: string }): ReactNode[] {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const { 0: id, index } of text.matchAll(IDS)) {
    const address = addressOfId(id);
    if (address === undefined) continue;
    parts.push(
      text.slice(from, index),
      <Link key={index} to={address} title={id}>
        {shortId(id)}
      </Link>,
    );
    from = index + id.length;
  }
  return [...parts, text.slice(from)];
}
