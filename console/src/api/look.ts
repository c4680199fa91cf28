import { useState } from 'react';

export interface Look<T> {
  readonly found: T | undefined;
  readonly error: unknown;
  readonly isBusy: boolean;
  look(): Promise<void>;
  /** As if nobody had looked. */
  forget(): void;
}

/** Something that is looked at when somebody asks, and changes nothing. */
export function useLook<T>(ask: () => Promise<T>): Look<T> {
  const [found, setFound] = useState<T>();
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  return {
    found,
    error,
    isBusy,
    async look() {
      setBusy(true);
      setError(undefined);
      try {
        setFound(await ask());
      } catch (cause) {
        setError(cause);
      }
      setBusy(false);
    },
    forget: () => setFound(undefined),
  };
}
