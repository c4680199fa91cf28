import type { ReactNode } from 'react';
import type { Act } from '../api/act.ts';
import { Trouble } from './trouble.tsx';

interface ConfirmButtonsProps {
  /** What is done, as it follows "Yes:". */
  readonly yes: string;
  readonly act: Act;
  readonly isDisabled?: boolean;
  /** Left out in a form, where it submits. */
  readonly onYes?: () => void;
  readonly onNo: () => void;
}

/** The two answers to whether something is meant, and why it was refused. */
export function ConfirmButtons({ yes, act, isDisabled = false, onYes, onNo }: ConfirmButtonsProps) {
  return (
    <>
      <div className="confirm-buttons">
        <button
          type={onYes ? 'button' : 'submit'}
          className="button first"
          disabled={act.isBusy || isDisabled}
          onClick={onYes}
        >
          Yes: {yes}
        </button>
        <button type="button" className="button" onClick={onNo}>
          Not yet
        </button>
      </div>
      {act.error !== undefined && <Trouble error={act.error} />}
    </>
  );
}

interface ConfirmProps extends ConfirmButtonsProps {
  readonly label: string;
  /** What it will do. */
  readonly children: ReactNode;
}

/** Says what will happen, and asks once more. */
export function Confirm({ label, children, ...buttons }: ConfirmProps) {
  return (
    <section className="confirm" aria-label={label}>
      {children}
      <ConfirmButtons {...buttons} />
    </section>
  );
}
