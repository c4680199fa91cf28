import { readFileSync } from 'node:fs';

/** A host call that tells when it came and is answered when the test says so. */
export function held() {
  const called = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<string>();
  const onCall = () => {
    called.resolve();
    return answer.promise;
  };
  return { onCall, called: called.promise, answer: (json: string) => answer.resolve(json) };
}

/** R while it computes, T while it is held. */
export function stateOf(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3);
}

export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
}
