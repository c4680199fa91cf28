import { useMemo } from 'react';
import { Copy } from './copy.tsx';
import { ScrollBox } from './scroll-box.tsx';

interface BlockProps {
  readonly text: string;
  readonly label: string;
}

/** Text to the letter, in its own scrolling box that can be reached by keyboard. */
export function Block({ text, label }: BlockProps) {
  return (
    <figure className="block">
      <ScrollBox label={label} className="scroll">
        <pre>{text}</pre>
      </ScrollBox>
      <Copy text={text} label={`Copy ${label}`} />
    </figure>
  );
}

/** Any JSON, laid out for reading. */
export function Json({ value, label }: { readonly value: unknown; readonly label: string }) {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? 'nothing', [value]);
  return <Block text={text} label={label} />;
}
