import { Dialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useStore } from '../api/store.ts';
import { NAV } from './nav-items.ts';
import { closeOverlay, overlay } from './overlays.ts';

const GENERAL: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['/'], 'search, or go anywhere'],
  [['Ctrl', 'K'], 'the same, also while typing'],
  [['j'], 'the next row or card'],
  [['k'], 'the one before'],
  [['Enter'], 'open it'],
  [['Esc'], 'close what lies over the page'],
  [['?'], 'this list'],
];

export function Shortcuts() {
  const isOpen = useStore(overlay) === 'shortcuts';
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && closeOverlay()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog shortcuts">
          <div className="dialog-head">
            <Dialog.Title>Keyboard</Dialog.Title>
            <Dialog.Close className="icon-button" aria-label="Close">
              <X aria-hidden size={16} />
            </Dialog.Close>
          </div>
          <div className="shortcut-columns">
            <dl>
              {GENERAL.map(([keys, what]) => (
                <Line key={what} keys={keys} what={what} />
              ))}
            </dl>
            <dl>
              {NAV.map(({ key, label }) => (
                <Line key={key} keys={['g', key]} what={label} />
              ))}
            </dl>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function Line({ keys, what }: { readonly keys: readonly string[]; readonly what: string }) {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{what}</dd>
    </div>
  );
}
