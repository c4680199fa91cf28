import { Autocomplete } from '@base-ui/react/autocomplete';
import { Dialog } from '@base-ui/react/dialog';
import { Search } from 'lucide-react';
import { useDeferredValue, useEffect, useState } from 'react';
import { type Act, useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import { useAnswer } from '../api/queries.ts';
import { signOut } from '../api/sign-in.ts';
import { useStore } from '../api/store.ts';
import type { Found } from '../api-types.ts';
import { DELIVERY_WORDS, EVENT_WORDS, RUN_WORDS, SESSION_WORDS } from '../words/words.ts';
import { NAV } from './nav-items.ts';
import { closeOverlay, openShortcuts, overlay } from './overlays.ts';
import { navigate, to } from './router.tsx';
import { setTheme } from './theme.ts';

interface Item {
  readonly value: string;
  readonly label: string;
  readonly aside: string;
  run(): void;
}

interface Group {
  readonly value: string;
  readonly items: readonly Item[];
}

/** Search and commands in one place: pages, anything the engine knows, and what changes this page. */
export function Palette() {
  const isOpen = useStore(overlay) === 'palette';
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && closeOverlay()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="palette" aria-label="Search or go to">
          <PaletteBody isOpen={isOpen} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function PaletteBody({ isOpen }: { isOpen: boolean }) {
  const [typed, setTyped] = useState('');
  // Opened again before it has faded, it is the same field, with the letters of the last time.
  useEffect(() => {
    if (isOpen) setTyped('');
  }, [isOpen]);
  const q = useDeferredValue(typed.trim());
  const { verb, rest } = spoken(q);
  const found = useAnswer('GET /api/search', { q: rest }, { enabled: rest !== '', keep: true });
  const act = useAct({ says: true });
  const items = rest === '' ? [] : (found.data?.items ?? []);
  const acts = items.filter(({ kind }) => kind === 'workflow').slice(0, ACTED_MAX);
  const groups = groupsOf(
    q,
    items,
    acts.flatMap(({ title }) =>
      VERBS.filter(({ word }) => word.startsWith(verb)).map((each) => actOn(title, each, act)),
    ),
  );
  const isAnswered = q === typed.trim() && !found.isPlaceholderData && !found.isLoading;
  // Enter comes before the answer: it means the first of what will be found, not of what was found for fewer letters.
  const [isInHurry, hurry] = useState(false);
  const first = groups[0]?.items[0];
  useEffect(() => {
    if (!isInHurry || !isAnswered) return;
    hurry(false);
    if (first) choose(first);
  }, [isInHurry, isAnswered, first]);
  return (
    <Autocomplete.Root
      open
      inline
      items={groups}
      filter={null}
      value={typed}
      onValueChange={(text) => {
        hurry(false);
        setTyped(text);
      }}
      autoHighlight="always"
      keepHighlight
      itemToStringValue={(item) => (item as Item).label}
    >
      <div className="palette-field">
        <Search aria-hidden size={16} />
        <Autocomplete.Input
          aria-label="Search or go to"
          placeholder="Search by title, name or id, or go to a page"
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || isAnswered) return;
            event.preventBaseUIHandler();
            hurry(true);
          }}
        />
        <Dialog.Close className="unseen">Close</Dialog.Close>
      </div>
      <div className="palette-scroll">
        <Autocomplete.Empty>
          <p className="palette-empty quiet">
            {found.isFetching ? 'Looking…' : q === '' ? '' : `Nothing has “${q}” in its title, its name or its id.`}
          </p>
        </Autocomplete.Empty>
        <Autocomplete.List>
          {(group: Group) => (
            <Autocomplete.Group key={group.value} items={group.items} className="palette-group">
              <Autocomplete.GroupLabel className="palette-label">{group.value}</Autocomplete.GroupLabel>
              <Autocomplete.Collection>
                {(item: Item) => (
                  <Autocomplete.Item
                    key={item.value}
                    value={item}
                    className="palette-item"
                    onClick={() => choose(item)}
                  >
                    <span className="clip">{item.label}</span>
                    <span className="quiet">{item.aside}</span>
                  </Autocomplete.Item>
                )}
              </Autocomplete.Collection>
            </Autocomplete.Group>
          )}
        </Autocomplete.List>
      </div>
    </Autocomplete.Root>
  );
}

function choose(item: Item): void {
  closeOverlay();
  item.run();
}

/** So many workflows of the same name can be acted on from here. */
const ACTED_MAX = 3;

const VERBS = [
  { word: 'run', verb: 'trigger', label: (name: string) => `Run ${name} now`, done: 'runs now' },
  { word: 'pause', verb: 'pause', label: (name: string) => `Pause ${name}`, done: 'is paused' },
  { word: 'resume', verb: 'resume', label: (name: string) => `Resume ${name}`, done: 'goes on' },
] as const;

/** `pause orders` is about orders. */
function spoken(q: string): { verb: string; rest: string } {
  const [, verb, rest] = /^(run|pause|resume)\s+(\S.*)$/i.exec(q) ?? [];
  return verb === undefined || rest === undefined ? { verb: '', rest: q } : { verb: verb.toLowerCase(), rest };
}

function actOn(name: string, { verb, label, done }: (typeof VERBS)[number], act: Act): Item {
  return {
    value: `${verb} ${name}`,
    label: label(name),
    aside: '',
    run: () =>
      void act.run(
        () => ask(`POST /api/workflows/{workflow}/${verb}`, { workflow: name }, { body: {} }),
        ({ sentence }) => ({ title: `${name} ${done}`, description: sentence }),
      ),
  };
}

function groupsOf(q: string, found: readonly Found[], acts: readonly Item[]): Group[] {
  const fits = ({ label }: Item): boolean => label.toLowerCase().includes(q.toLowerCase());
  const { verb } = spoken(q);
  const groups: Group[] = [
    ...(verb === '' ? [] : [{ value: 'Do', items: acts }]),
    { value: 'Pages', items: PAGES.filter(fits) },
    { value: 'Found', items: found.map(itemOf) },
    ...(verb === '' ? [{ value: 'Do', items: acts }] : []),
    { value: 'This page', items: COMMANDS.filter(fits) },
  ];
  return groups.filter(({ items }) => items.length > 0);
}

const PAGES: readonly Item[] = NAV.map(({ to: address, label, key }) => ({
  value: address,
  label,
  aside: `g ${key}`,
  run: () => navigate(address),
}));

const COMMANDS: readonly Item[] = [
  { value: 'keys', label: 'Keyboard shortcuts', aside: '?', run: openShortcuts },
  { value: 'light', label: 'Light colours', aside: '', run: () => setTheme('light') },
  { value: 'dark', label: 'Dark colours', aside: '', run: () => setTheme('dark') },
  { value: 'system', label: 'Colours like the system', aside: '', run: () => setTheme('system') },
  { value: 'out', label: 'Sign out', aside: '', run: () => void signOut() },
];

function itemOf(found: Found): Item {
  const { kind, id, title, workflow } = found;
  const words = [kind, workflow === title ? '' : workflow, statusWords(found)].filter((word) => word !== '');
  return { value: `${kind} ${id}`, label: title, aside: words.join(' · '), run: () => navigate(addressOf(found)) };
}

/** Where the engine gives a state and no words for it. */
function statusWords({ kind, status }: Found): string {
  if (kind === 'event') return EVENT_WORDS[status as keyof typeof EVENT_WORDS]?.[0] ?? '';
  if (kind === 'run') return RUN_WORDS[status as keyof typeof RUN_WORDS]?.[0] ?? '';
  if (kind === 'delivery') return DELIVERY_WORDS[status as keyof typeof DELIVERY_WORDS]?.[0] ?? '';
  if (kind === 'session') return SESSION_WORDS[status as keyof typeof SESSION_WORDS]?.[0] ?? status;
  if (kind === 'connection') return status === 'ok' ? '' : status;
  return kind === 'workflow' || kind === 'version' ? '' : status;
}

function addressOf({ kind, id, title, workflow }: Found): string {
  switch (kind) {
    case 'workflow':
      return to.workflow(title);
    case 'version':
      return to.version(workflow, id);
    case 'connection':
      return to.connection(id);
    case 'input':
    case 'output':
    case 'event':
    case 'run':
    case 'delivery':
    case 'session':
      return to[kind](id);
  }
}
