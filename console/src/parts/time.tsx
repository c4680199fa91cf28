import { useTold } from '../api/clock.ts';
import { clockTime, exact, relative } from '../words/time.ts';

/** When, as people say it; the exact time on hover and for whoever asks by keyboard. */
export function Ago({ at, className }: { readonly at: number | null; readonly className?: string }) {
  const text = useTold((now) => (at === null ? '' : relative(at, now)));
  if (at === null) return null;
  return (
    <time className={className ?? 'quiet'} dateTime={new Date(at).toISOString()} title={exact(at)}>
      {text}
    </time>
  );
}

/** A time on the clock, for what is read line by line. */
export function Clock({ at }: { readonly at: number }) {
  const text = useTold((now) => clockTime(at, now));
  return (
    <time className="numbers" dateTime={new Date(at).toISOString()} title={exact(at)}>
      {text}
    </time>
  );
}
