import { link } from '../api/live.ts';
import { useStore } from '../api/store.ts';

const WORDS = { joining: 'Connecting', live: 'Live', gone: 'No answer' } as const;

/** Whether what is shown is as things are. */
export function LinkSign() {
  const { state } = useStore(link);
  return (
    <span className="link-sign" data-state={state}>
      <span className="dot" aria-hidden />
      {WORDS[state]}
    </span>
  );
}
