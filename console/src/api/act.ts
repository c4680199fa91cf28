import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { say } from '../app/toasts.tsx';
import { NoAnswerError, ProblemError } from './ask.ts';

interface Said {
  readonly title: string;
  readonly description?: string | undefined;
}

export interface Act {
  readonly isBusy: boolean;
  /** Why it was refused. */
  readonly error: unknown;
  /** Does it, says what came of it, and reads everything again. False when it was refused. */
  run<T>(ask: () => Promise<T>, said: (answer: T) => Said): Promise<boolean>;
}

/** Something a person does. What is refused is shown where they did it, or said where that place closes by itself. */
export function useAct({ says = false }: { says?: boolean } = {}): Act {
  const client = useQueryClient();
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({ isBusy: false, error: undefined });
  return {
    ...state,
    async run(ask, said) {
      setState({ isBusy: true, error: undefined });
      try {
        say(said(await ask()));
        setState({ isBusy: false, error: undefined });
        return true;
      } catch (cause) {
        const error = cause instanceof NoAnswerError ? new AnswerLostError({ cause }) : cause;
        setState({ isBusy: false, error });
        if (says) say(refusal(error));
        return false;
      } finally {
        void client.invalidateQueries();
      }
    },
  };
}

function refusal(error: unknown): Said {
  if (!(error instanceof ProblemError)) return { title: 'It was not done', description: String(error) };
  const { detail, why } = error.problem;
  return { title: 'It was not done', description: `${detail}, because ${why}.` };
}

/** The page does not guess either. */
export class AnswerLostError extends Error {
  constructor(options: ErrorOptions) {
    super(
      'No answer came, so it is not known whether the engine did it. When it is back, this page shows how it stands.',
      options,
    );
    this.name = 'AnswerLostError';
  }
}
