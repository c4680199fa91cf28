import { Toast } from '@base-ui/react/toast';
import { X } from 'lucide-react';

const manager = Toast.createToastManager();
const SHOWN_MS = 6_000;

/** Tells what came of something a person did; read aloud by screen readers. */
export function say(said: { readonly title: string; readonly description?: string | undefined }): void {
  manager.add({ ...said, timeout: SHOWN_MS });
}

export function Toasts() {
  return (
    <Toast.Provider toastManager={manager} limit={3}>
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function ToastList() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast">
      <Toast.Content className="toast-content">
        <div>
          <Toast.Title className="toast-title" />
          <Toast.Description className="quiet" />
        </div>
        <Toast.Close className="icon-button" aria-label="Dismiss">
          <X aria-hidden size={14} />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ));
}
