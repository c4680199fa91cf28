import { SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { isMissing } from '../api/queries.ts';
import { Page } from '../app/page.tsx';
import { Link } from '../app/router.tsx';
import { Empty } from './empty.tsx';
import { Trouble } from './trouble.tsx';

interface LoadedProps<T> {
  readonly what: string;
  readonly answer: { readonly data: T | undefined; readonly error: unknown };
  readonly children: (data: T) => ReactNode;
}

/** One thing by its address: it may not be there (any more). */
export function Loaded<T>({ what, answer: { data, error }, children }: LoadedProps<T>) {
  if (data !== undefined) return children(data);
  if (isMissing(error)) {
    return (
      <Page title={`No such ${what}`}>
        <Empty icon={SearchX} title={`There is no ${what} at this address`}>
          <p>
            The link may be from another engine. <Link to="/">Home</Link>
          </p>
        </Empty>
      </Page>
    );
  }
  return error ? <Trouble error={error} /> : <p className="quiet waiting">Reading…</p>;
}
