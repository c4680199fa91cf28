import type { ShownRun } from '../api-types.ts';
import { Block, Json } from './block.tsx';
import { Section } from './section.tsx';

/** What a run read outside: the request, and the answer as far as it is kept. */
export function RunReads({ reads }: { readonly reads: ShownRun['reads'] }) {
  if (reads.length === 0) return null;
  return (
    <Section title="What it read outside">
      <div className="reads">
        {reads.map(({ position, connection, method, request, answer }) => (
          <details key={position}>
            <summary>
              {connection}.{method} <code>{JSON.stringify(request)}</code>
            </summary>
            <Json value={request} label={`request ${position}`} />
            <Block text={pretty(answer)} label={`answer ${position}`} />
          </details>
        ))}
      </div>
    </Section>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
