import { diffLines } from 'diff';
import { useMemo, useState } from 'react';
import { ScrollBox } from './scroll-box.tsx';

interface DiffProps {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}

interface Line {
  readonly sign: '+' | '−' | ' ';
  readonly text: string;
  readonly before: number | null;
  readonly after: number | null;
}

/** Lines around a change that are shown with it. */
const AROUND = 3;

/** What differs between two texts, line by line; long stretches that do not are folded. */
export function Diff({ before, after, label }: DiffProps) {
  const lines = useMemo(() => linesOf(before, after), [before, after]);
  const [isWhole, setWhole] = useState(false);
  const added = lines.filter(({ sign }) => sign === '+').length;
  const removed = lines.filter(({ sign }) => sign === '−').length;
  if (added + removed === 0) return <p className="quiet">They are the same, letter by letter.</p>;
  const parts = isWhole ? [{ lines, hidden: 0 }] : folded(lines);
  return (
    <figure className="diff">
      <figcaption className="quiet">
        <span className="diff-added">+{added}</span> <span className="diff-removed">−{removed}</span> lines
        {parts.some(({ hidden }) => hidden > 0) && (
          <button type="button" className="quiet-button" onClick={() => setWhole(true)}>
            Show everything
          </button>
        )}
      </figcaption>
      <ScrollBox label={label} className="scroll diff-scroll">
        <table>
          <tbody>
            {parts.map((part) =>
              part.hidden > 0 ? (
                <tr key={`fold ${part.lines[0]?.after} ${part.lines[0]?.before}`} className="diff-fold">
                  <td colSpan={4}>{part.hidden} lines without a change</td>
                </tr>
              ) : (
                part.lines.map((line) => (
                  <tr key={`${line.before} ${line.after}`} data-sign={line.sign}>
                    <td className="diff-number">{line.before}</td>
                    <td className="diff-number">{line.after}</td>
                    <td className="diff-sign">{line.sign}</td>
                    <td className="diff-text">{line.text}</td>
                  </tr>
                ))
              ),
            )}
          </tbody>
        </table>
      </ScrollBox>
    </figure>
  );
}

function linesOf(before: string, after: string): Line[] {
  const lines: Line[] = [];
  let [a, b] = [0, 0];
  for (const part of diffLines(before, after)) {
    for (const text of part.value.replace(/\n$/, '').split('\n')) {
      if (part.added) lines.push({ sign: '+', text, before: null, after: ++b });
      else if (part.removed) lines.push({ sign: '−', text, before: ++a, after: null });
      else lines.push({ sign: ' ', text, before: ++a, after: ++b });
    }
  }
  return lines;
}

interface Part {
  readonly lines: readonly Line[];
  /** How many lines are folded away in its place; 0 for what is shown. */
  readonly hidden: number;
}

function folded(lines: readonly Line[]): Part[] {
  const isNear = lines.map((_, i) =>
    lines.slice(Math.max(0, i - AROUND), i + AROUND + 1).some(({ sign }) => sign !== ' '),
  );
  const parts: { lines: Line[]; isShown: boolean }[] = [];
  for (const [i, line] of lines.entries()) {
    const isShown = isNear[i] === true;
    const last = parts.at(-1);
    if (last && last.isShown === isShown) last.lines.push(line);
    else parts.push({ lines: [line], isShown });
  }
  return parts.map((part) => ({ lines: part.lines, hidden: part.isShown ? 0 : part.lines.length }));
}
