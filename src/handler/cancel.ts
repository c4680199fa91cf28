import type { Fence } from '#model';
import type { HandlerHost } from './handler-host.ts';

/** In words, who asked that this execution end; undefined when nobody did. */
export function cancelAsked({ engine }: HandlerHost, fence: Fence): string | undefined {
  const [execution] = engine.reader.fetch('execution', fence.execution);
  return execution?.cancelRequestedAt == null ? undefined : `cancelled by ${execution.cancelRequestedBy}`;
}

/** Runs a script with a signal that is given when somebody asks its execution to end: a script has nothing outside to wait for. */
export async function heedingCancel<T>(
  host: HandlerHost,
  fence: Fence,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const look = (): void => {
    if (cancelAsked(host, fence) !== undefined) ended.abort();
  };
  const unlisten = host.engine.listen((changes) => {
    if (changes.some(({ kind, id }) => kind === 'execution' && id === fence.execution)) look();
  });
  try {
    // What was asked between the last look at the row and now told nobody.
    look();
    return await run(ended.signal);
  } finally {
    unlisten();
  }
}
