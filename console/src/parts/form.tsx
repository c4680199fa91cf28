import type { ComponentProps } from 'react';

interface FormProps extends Omit<ComponentProps<'form'>, 'onSubmit'> {
  readonly onSend: () => Promise<unknown>;
}

/** A form that is sent by this page, and never by the browser. */
export function Form({ className = 'inline-form', onSend, ...form }: FormProps) {
  return (
    <form
      {...form}
      className={className}
      onSubmit={(event) => {
        event.preventDefault();
        void onSend();
      }}
    />
  );
}
