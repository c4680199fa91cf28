import type { ShownRun } from '../api-types.ts';
import { Link, to } from '../app/router.tsx';
import { RUN_WORDS } from '../words/words.ts';
import { Badge } from './badge.tsx';
import { attemptsOf, boundaryWords, type SegmentState } from './run-timeline.ts';
import { Ago } from './time.tsx';

const PHASES = [
  { key: 'prepare', name: 'prepare', says: 'chooses its events, reads' },
  { key: 'mutate', name: 'mutate', says: 'makes its one call' },
  { key: 'next', name: 'next', says: 'tells what comes next' },
] as const;

const WORDS: Readonly<Record<SegmentState, string>> = {
  done: 'done',
  busy: 'under way',
  stopped: 'stopped here',
  earlier: 'as before',
  none: 'nothing to do',
  never: '',
};

/** A chain of attempts: prepare │ mutate ‖ next, with the line behind which there is no way back. */
export function Timeline({ shown: { row, runs, output } }: { readonly shown: ShownRun }) {
  return (
    <figure className="timeline card">
      <table>
        <caption className="unseen">The attempts of this run, phase by phase</caption>
        <thead>
          <tr>
            <th scope="col" className="timeline-attempt">
              Attempt
            </th>
            {PHASES.map(({ key, name, says }) => (
              <th key={key} scope="col" data-phase={key}>
                {name} <span className="quiet">{says}</span>
              </th>
            ))}
            <th scope="col">
              <span className="unseen">How it ended</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {attemptsOf(runs).map((attempt) => (
            <tr key={attempt.run.id} data-here={attempt.run.id === row.id || undefined}>
              <th scope="row" className="timeline-attempt">
                {attempt.run.id === row.id ? (
                  <>no. {attempt.run.attempt + 1}</>
                ) : (
                  <Link to={to.run(attempt.run.id)}>no. {attempt.run.attempt + 1}</Link>
                )}
              </th>
              {PHASES.map(({ key }) => (
                <td key={key} data-phase={key}>
                  <span className="segment" data-state={attempt[key]}>
                    {WORDS[attempt[key]]}
                  </span>
                </td>
              ))}
              <td className="timeline-end">
                <Badge word={RUN_WORDS[attempt.run.status]} /> <Ago at={attempt.run.endedAt ?? attempt.run.startedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <figcaption>
        <span className="boundary-sign" aria-hidden /> <strong>The mutation boundary.</strong>{' '}
        {boundaryWords(runs, output)}
      </figcaption>
    </figure>
  );
}
