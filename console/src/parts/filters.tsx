import { Search, X } from 'lucide-react';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { navigate, usePlace } from '../app/router.tsx';

/** A filter is a part of the address, so that what is seen can be sent to somebody. */
export function useFilter(): {
  readonly get: (name: string) => string | undefined;
  /** What another filter was chosen for is left out with it: the versions of one workflow are not those of another. */
  readonly set: (name: string, value: string | undefined, leaves?: readonly string[]) => void;
  readonly isSet: boolean;
} {
  const { path, query } = usePlace();
  return {
    get: (name) => query.get(name) ?? undefined,
    set(name, value, leaves = []) {
      const next = new URLSearchParams(query);
      for (const each of leaves) next.delete(each);
      if (value === undefined || value === '') next.delete(name);
      else next.set(name, value);
      navigate(next.size === 0 ? path : `${path}?${next}`, { replace: true });
    },
    isSet: query.size > 0,
  };
}

export function Filters({ children, isSet }: { readonly children: ReactNode; readonly isSet: boolean }) {
  const { path } = usePlace();
  return (
    <search className="filters">
      {children}
      {isSet && (
        <button type="button" className="quiet-button" onClick={() => navigate(path, { replace: true })}>
          <X aria-hidden size={14} /> Clear
        </button>
      )}
    </search>
  );
}

const TYPED_MS = 250;

export function SearchField({ label, name = 'q' }: { readonly label: string; readonly name?: string }) {
  const filter = useFilter();
  const given = filter.get(name) ?? '';
  const [typed, setTyped] = useState(given);
  const told = useRef(given);
  useEffect(() => {
    // The address was changed by somebody else, such as "Clear".
    if (given !== told.current) {
      told.current = given;
      setTyped(given);
    }
  }, [given]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the wait
  useEffect(() => {
    if (typed === told.current) return undefined;
    const timer = setTimeout(() => {
      told.current = typed;
      filter.set(name, typed);
    }, TYPED_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <label className="search-field">
      <Search aria-hidden size={14} />
      <span className="unseen">{label}</span>
      <input type="search" value={typed} placeholder={label} onChange={(event) => setTyped(event.target.value)} />
    </label>
  );
}

interface ChooseProps {
  readonly label: string;
  readonly name: string;
  readonly all: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  /** Filters that mean nothing once this one is another. */
  readonly leaves?: readonly string[];
}

export function Choose({ label, name, all, options, leaves = [] }: ChooseProps) {
  const filter = useFilter();
  const chosen = filter.get(name) ?? '';
  // A link may ask for what is not offered any more, such as a handler of an earlier version: the list is filtered by it all the same.
  const isOffered = chosen === '' || options.some(([value]) => value === chosen);
  return (
    <label className="choose">
      <span className="unseen">{label}</span>
      <select value={chosen} onChange={(event) => filter.set(name, event.target.value, leaves)}>
        <option value="">{all}</option>
        {!isOffered && <option value={chosen}>{chosen}</option>}
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Up to the end of a day: the quickest way far back in a long list. */
export function ChooseTime() {
  const filter = useFilter();
  return (
    <label className="choose choose-day">
      <span>Up to</span>
      <input
        type="date"
        value={filter.get('until') ?? ''}
        onChange={(event) => filter.set('until', event.target.value)}
      />
    </label>
  );
}

/** The time that a list is asked for, in the reader's own zone. */
export function useSpan(): { readonly to?: number } {
  const until = useFilter().get('until') ?? '';
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(until) ?? [];
  if (year === undefined) return {};
  const next = new Date(Number(year), Number(month) - 1, Number(day) + 1).getTime();
  return { to: next - 1 };
}
