import type { Need } from '../api-types.ts';
import { ScrollBox } from './scroll-box.tsx';

/** Lines of an author's file, with the one where the script failed. */
export function CodePlace({ place }: { readonly place: NonNullable<Need['place']> }) {
  const { file, line, column, lines } = place;
  return (
    <figure className="code-place">
      <figcaption className="quiet">
        {file}, line {line}, column {column}
      </figcaption>
      {lines.length > 0 && (
        <ScrollBox label={`${file} around line ${line}`} className="scroll">
          <pre>
            {lines.map(({ number, text }) => (
              <span key={number} className="code-line" data-here={number === line || undefined}>
                <span className="code-number">{number}</span>
                {text}
              </span>
            ))}
          </pre>
        </ScrollBox>
      )}
    </figure>
  );
}
