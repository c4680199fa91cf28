import { ChevronDown, Link2 } from 'lucide-react';
import { useId, useState } from 'react';
import type { Need } from '../api-types.ts';
import { Link, to } from '../app/router.tsx';
import { capitalized, count, NEED_WORDS } from '../words/words.ts';
import { Badge } from './badge.tsx';
import { Choices } from './choices.tsx';
import { CodePlace } from './code-place.tsx';
import { Linked } from './linked.tsx';
import { Part } from './part.tsx';
import { PermissionRequest } from './permission-request.tsx';
import { EventRefs, InputRefs } from './refs.tsx';
import { SeenCall } from './seen-call.tsx';
import { Ago, Clock } from './time.tsx';

interface NeedCardProps {
  readonly need: Need;
  readonly isOpen: boolean;
  readonly onDone?: () => void;
}

/** One thing that needs a person, with everything there is to decide by. */
export function NeedCard({ need, isOpen: isOpenFirst, onDone }: NeedCardProps) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  const body = useId();
  return (
    <article className="card need" aria-labelledby={`${body}-title`} data-kind={need.kind}>
      <header className="need-head">
        <div className="need-line">
          <Badge word={NEED_WORDS[need.kind]} />
          <span className="need-where">
            {need.workflows.length > 1 ? (
              count(need.workflows.length, 'workflow')
            ) : (
              <Link to={to.workflow(need.name)}>{need.name}</Link>
            )}
          </span>
          <Ago at={need.since} />
          <Link to={to.need(need.id)} className="icon-button" aria-label="Link to this card" title="Link to this card">
            <Link2 aria-hidden size={14} />
          </Link>
        </div>
        <h2 id={`${body}-title`}>
          <button
            type="button"
            className="need-title"
            data-stop=""
            aria-expanded={isOpen}
            aria-controls={body}
            onClick={() => setOpen(!isOpen)}
          >
            <span>{capitalized(need.sentence)}</span>
            <ChevronDown aria-hidden size={18} />
          </button>
        </h2>
      </header>
      <div id={body} hidden={!isOpen}>
        {isOpen && <NeedBody need={need} onDone={onDone} />}
      </div>
    </article>
  );
}

function NeedBody({ need, onDone }: { readonly need: Need; readonly onDone: (() => void) | undefined }) {
  const { call, inputs, events, known, unknown, facts, choices, place, workflows } = need;
  const isAboutCall = call !== null && need.kind !== 'repair';
  return (
    <div className="need-body">
      <div className="need-columns">
        <div className="need-main">
          {need.kind === 'permission' && <PermissionRequest need={need} />}
          {isAboutCall && (
            <Part title="What the script said it would do">
              <p className="said">{need.title ?? <span className="quiet">It gave no title.</span>}</p>
            </Part>
          )}
          {call && (
            <Part title={need.kind === 'approval' ? 'What the host would send' : 'What the host saw it send'}>
              <SeenCall
                id={call.id}
                preview={call.preview}
                params={call.params}
                workflow={need.name}
                handler={need.handler}
              />
            </Part>
          )}
          {place && (
            <Part title="The code at fault">
              <CodePlace place={place} />
            </Part>
          )}
        </div>
        <div className="need-side">
          <Part title="What is known">
            <ul className="known">
              {known.map((each) => (
                <li key={each}>{each}</li>
              ))}
            </ul>
          </Part>
          {unknown.length > 0 && (
            <Part title="What is not">
              <ul className="not-known">
                {unknown.map((each) => (
                  <li key={each}>{each}</li>
                ))}
              </ul>
            </Part>
          )}
          {workflows.length > 1 && (
            <Part title="Who waits for it">
              <ul className="plain tags">
                {workflows.map((name) => (
                  <li key={name}>
                    <Link to={to.workflow(name)}>{name}</Link>
                  </li>
                ))}
              </ul>
            </Part>
          )}
          {need.kind === 'connection' && (
            <p>
              <Link to={to.connection(need.id)}>Set its secret anew</Link> first, if that is why it was refused.
            </p>
          )}
          <Part title="What you can do">
            <Choices choices={choices} result={need.result} events={events} {...(onDone && { onDone })} />
          </Part>
        </div>
        <div className="need-behind">
          {(isAboutCall || inputs.length > 0) && (
            <Part title="Because of">
              <InputRefs inputs={inputs} />
            </Part>
          )}
          {events.length > 0 && (
            <Part title={need.kind === 'repair' ? 'Events it had looked at' : 'Its events'}>
              <EventRefs events={events} none="" />
            </Part>
          )}
          {facts.length > 0 && (
            <Part title="Evidence">
              <ol className="plain evidence">
                {facts.map(({ at, source, says }) => (
                  <li key={`${at} ${source} ${says}`}>
                    <Clock at={at} />
                    <span>
                      <span className="quiet">{source}:</span> <Linked text={says} />
                    </span>
                  </li>
                ))}
              </ol>
            </Part>
          )}
          <NeedRefs need={need} />
        </div>
      </div>
    </div>
  );
}

function NeedRefs({ need: { call, run, delivery, handler, version } }: { readonly need: Need }) {
  if (run === null && call === null) return null;
  return (
    <p className="quiet need-refs">
      {run !== null && (
        <>
          <Link to={to.run(run)}>The run of {handler}</Link>
          {version !== null && <> in version {version}</>}
        </>
      )}
      {delivery !== null && (
        <>
          {' · '}
          <Link to={to.delivery(delivery)}>The delivery it failed on</Link>
        </>
      )}
      {call !== null && (
        <>
          {' · '}
          <Link to={to.output(call.id)}>Everything about the call</Link>
        </>
      )}
    </p>
  );
}
