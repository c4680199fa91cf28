import { AlertDialog } from '@base-ui/react/alert-dialog';
import { Menu } from '@base-ui/react/menu';
import { Archive, CircleStop, EllipsisVertical, type LucideIcon, Pause, Play, Zap } from 'lucide-react';
import { useState } from 'react';
import { useAct } from '../api/act.ts';
import { ask } from '../api/ask.ts';
import type { Status } from '../api-types.ts';
import { ConfirmButtons } from './confirm.tsx';
import { Trouble } from './trouble.tsx';

type Verb = 'trigger' | 'pause' | 'resume' | 'cancel' | 'archive';

interface Doing {
  readonly label: string;
  readonly icon: LucideIcon;
  /** What it will do, said before it is pressed. */
  readonly does: string;
  readonly done: string;
}

const DOINGS: Readonly<Record<Verb, Doing>> = {
  trigger: {
    label: 'Run now',
    icon: Zap,
    does: 'Runs it now, its producers too, whatever its schedule says.',
    done: 'It runs now',
  },
  pause: {
    label: 'Pause',
    icon: Pause,
    does: 'No further run starts and nothing new is sent; what is past its call goes on to its end.',
    done: 'Paused',
  },
  resume: { label: 'Resume', icon: Play, does: 'Lifts the pause: it goes on where it stood.', done: 'It goes on' },
  cancel: {
    label: 'Stop the session',
    icon: CircleStop,
    does: 'Stops what runs now at a safe point; the next trigger starts it again.',
    done: 'It stops at the next safe point',
  },
  archive: {
    label: 'Archive',
    icon: Archive,
    does: 'Puts it away for good. You are asked once more.',
    done: 'Archived',
  },
};

interface WorkflowActsProps {
  readonly name: string;
  readonly kinds: Status['kinds'];
  readonly status: Status['status'];
}

function verbsFor({ kinds, status }: Pick<WorkflowActsProps, 'kinds' | 'status'>): readonly Verb[] {
  if (status === 'archived') return [];
  if (status === 'draft' || status === 'ready') return ['archive'];
  const isPaused = kinds.includes('paused');
  return [
    isPaused ? 'resume' : 'trigger',
    ...(isPaused ? [] : (['pause'] as const)),
    ...(kinds.includes('running') ? (['cancel'] as const) : []),
    'archive',
  ];
}

function useWorkflowActs(name: string, says: boolean) {
  const act = useAct({ says });
  return {
    ...act,
    press: (verb: Verb) =>
      act.run(
        () => ask(`POST /api/workflows/{workflow}/${verb}`, { workflow: name }, { body: {} }),
        ({ folded, sentence }) => ({
          title: `${name}: ${DOINGS[verb].done.toLowerCase()}`,
          description:
            verb === 'trigger' && folded === true ? 'It was about to run already: this is the same run.' : sentence,
        }),
      ),
  };
}

/** The two that are used most as buttons, the others in a menu. */
export function WorkflowActs(props: WorkflowActsProps) {
  const { press, isBusy, error } = useWorkflowActs(props.name, false);
  const verbs = verbsFor(props).filter((verb) => verb !== 'archive');
  return (
    <div className="workflow-acts">
      {verbs.map((verb) => {
        const { label, icon: Icon, does } = DOINGS[verb];
        return (
          <button
            key={verb}
            type="button"
            className="button"
            title={does}
            disabled={isBusy}
            onClick={() => void press(verb)}
          >
            <Icon aria-hidden size={15} /> {label}
          </button>
        );
      })}
      <WorkflowMenu {...props} />
      {error !== undefined && <Trouble error={error} />}
    </div>
  );
}

export function WorkflowMenu(props: WorkflowActsProps) {
  const { press } = useWorkflowActs(props.name, true);
  const [isAsked, ask] = useState(false);
  const verbs = verbsFor(props);
  if (verbs.length === 0) return null;
  return (
    <>
      <Menu.Root>
        <Menu.Trigger className="icon-button" aria-label={`What you can do with ${props.name}`}>
          <EllipsisVertical aria-hidden size={16} />
        </Menu.Trigger>
        {/* Inside the page's main part: a screen reader finds it there. */}
        <Menu.Portal container={document.getElementById('content')}>
          <Menu.Positioner sideOffset={4} align="end" className="menu-place">
            <Menu.Popup className="menu">
              {verbs.map((verb) => {
                const { label, icon: Icon, does } = DOINGS[verb];
                return (
                  <Menu.Item
                    key={verb}
                    className="menu-item"
                    onClick={() => (verb === 'archive' ? ask(true) : void press(verb))}
                  >
                    <Icon aria-hidden size={15} />
                    <span>
                      {label}
                      <span className="quiet menu-does">{does}</span>
                    </span>
                  </Menu.Item>
                );
              })}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
      <AskArchive name={props.name} isAsked={isAsked} onClose={() => ask(false)} />
    </>
  );
}

interface AskArchiveProps {
  readonly name: string;
  readonly isAsked: boolean;
  readonly onClose: () => void;
}

/** The one act of the menu that cannot be taken back. */
function AskArchive({ name, isAsked, onClose }: AskArchiveProps) {
  const act = useWorkflowActs(name, false);
  return (
    <AlertDialog.Root open={isAsked} onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="backdrop" />
        <AlertDialog.Popup className="dialog ask-dialog">
          <AlertDialog.Title>Archive {name}</AlertDialog.Title>
          <AlertDialog.Description>
            It runs no more, and cannot be brought back; what it did stays to be seen. Refused while anything is open.
          </AlertDialog.Description>
          <ConfirmButtons
            yes={`archive ${name}`}
            act={act}
            onYes={() => void act.press('archive').then((isDone) => isDone && onClose())}
            onNo={onClose}
          />
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
