import { BellRing } from 'lucide-react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { useAnswer } from '../api/queries.ts';
import type { Channel } from '../api-types.ts';
import { count, kindWords, type Word } from '../words/words.ts';
import { Badge } from './badge.tsx';
import { Empty } from './empty.tsx';
import { Section } from './section.tsx';
import { Ago } from './time.tsx';
import { Trouble } from './trouble.tsx';

const CHANNEL_WORDS: Readonly<Record<Channel['status'], Word>> = {
  untried: ['not tried yet', 'calm'],
  ok: ['works', 'good'],
  failing: ['fails', 'bad'],
};

const TYPE_WORDS: Readonly<Record<Channel['type'], string>> = {
  webhook: 'a webhook',
  email: 'e-mail',
  command: 'a command on the engine’s machine',
};

/** Who is told when something needs a person, and whether that works. */
export function Channels() {
  const { data, error } = useAnswer('GET /api/channels', {});
  return (
    <Section title="Who is told">
      {error && !data && <Trouble error={error} />}
      {data?.items.length === 0 && (
        <Empty icon={BellRing} title="Nobody is told when something needs them">
          <p>
            Name a webhook, an e-mail address or a command under <code>notify</code> in <code>pawl.config.ts</code>:
            each case is then told once, with a link to its card.
          </p>
        </Empty>
      )}
      {data && data.items.length > 0 && (
        <ul className="plain card lines">
          {data.items.map((channel) => (
            <ChannelLine key={channel.name} channel={channel} />
          ))}
        </ul>
      )}
    </Section>
  );
}

function ChannelLine({ channel: { name, type, kinds, status, error, at, waiting } }: { readonly channel: Channel }) {
  const act = useAct();
  return (
    <li>
      <span>
        <strong>{name}</strong>{' '}
        <span className="quiet">
          by {TYPE_WORDS[type]}, {kinds === null ? 'of everything' : `of: ${kinds.map(kindWords).join(', ')}`}
          {waiting > 0 && `; ${count(waiting, 'notice')} ${waiting === 1 ? 'waits' : 'wait'}`}
        </span>
      </span>
      <Ago at={at} />
      <Badge word={CHANNEL_WORDS[status]} />
      <span className="actions">
        <button
          type="button"
          className="quiet-button"
          title={`Tells ${name} that it can be told; nothing else happens.`}
          disabled={act.isBusy}
          onClick={() =>
            void act.run(
              () => ask('POST /api/channels/{name}/test', { name }, { body: {} }),
              (told) => ({
                title: told.ok ? `${name} was told, as a test` : `${name} could not be told`,
                description: told.error ?? undefined,
              }),
            )
          }
        >
          Test<span className="unseen"> {name}</span>
        </button>
      </span>
      {error !== null && <p className="wrong said">{error}</p>}
      {act.error !== undefined && <Trouble error={act.error} />}
    </li>
  );
}
