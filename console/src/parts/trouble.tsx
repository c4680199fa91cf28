import { TriangleAlert } from 'lucide-react';
import { AnswerLostError } from '../api/act.ts';
import { NoAnswerError, ProblemError } from '../api/ask.ts';
import { capitalized } from '../words/words.ts';
import { Command } from './command.tsx';

/** What went wrong, why, and what to do: never a bare code. */
export function Trouble({ error }: { readonly error: unknown }) {
  if (error instanceof ProblemError) {
    const { detail, why, next, status } = error.problem;
    return (
      <div className="trouble" role="alert">
        <TriangleAlert aria-hidden size={16} />
        <div>
          <p>
            {/* Either may begin with somebody's or something's name, which is written as it is. */}
            <strong>{status >= 500 ? 'It failed' : 'Refused'}:</strong> {detail}. <span>Because {why}.</span>
          </p>
          {next.length > 0 && (
            <ul className="plain quiet">
              {next.map(({ label, argv }) => (
                <li key={label}>
                  {capitalized(label)}
                  {argv && (
                    <>
                      : <Command argv={argv} />
                    </>
                  )}
                </li>
              ))}
            </ul>
          )}
        </div>
      </div>
    );
  }
  return (
    <div className="trouble" role="alert">
      <TriangleAlert aria-hidden size={16} />
      <p>{sentenceOf(error)}</p>
    </div>
  );
}

function sentenceOf(error: unknown): string {
  if (error instanceof AnswerLostError) return error.message;
  if (error instanceof NoAnswerError) return 'The engine does not answer. This page comes back by itself when it does.';
  return `This page made a mistake: ${error instanceof Error ? error.message : String(error)}`;
}
