import { KeyRound } from 'lucide-react';
import { useEffect, useState } from 'react';
import { ProblemError } from '../api/ask.ts';
import { type Who, who } from '../api/credentials.ts';
import { signIn } from '../api/sign-in.ts';
import { useStore } from '../api/store.ts';
import { Logo } from '../app/logo.tsx';
import { Command } from '../parts/command.tsx';
import { TextField } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { capitalized } from '../words/words.ts';

const NAME_KEY = 'pawl.name';

/** Who sits here, and by what right. */
export function SignIn() {
  const now = useStore(who);
  const [token, setToken] = useState('');
  const [name, setName] = useState(localStorage.getItem(NAME_KEY) ?? '');
  const [wrong, setWrong] = useState('');
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    document.title = 'Sign in · Pawl';
  }, []);

  async function enter(): Promise<void> {
    setBusy(true);
    setWrong('');
    localStorage.setItem(NAME_KEY, name.trim());
    try {
      await signIn(token.trim(), name.trim());
    } catch (error) {
      setWrong(error instanceof ProblemError ? refused(error) : 'The engine does not answer. Try again in a moment.');
      setBusy(false);
    }
  }

  return (
    <main className="sign-in">
      <Form className="card" onSend={enter}>
        <h1>
          <Logo size={28} /> Pawl
        </h1>
        <Why now={now} />
        <TextField
          label="Token"
          type="password"
          autoComplete="current-password"
          required
          value={token}
          onType={setToken}
        />
        <TextField
          label="Your name"
          hint="every act is kept with it"
          autoComplete="name"
          value={name}
          onType={setName}
        />
        {wrong !== '' && (
          <p className="wrong" role="alert">
            {wrong}
          </p>
        )}
        <button type="submit" className="button first" disabled={isBusy}>
          <KeyRound aria-hidden size={15} /> Sign in
        </button>
        <p className="quiet">
          Easier: type <Command argv={['pawl', 'login']} /> where the engine runs, and open the link it prints. The
          owner’s token lies in the file <code>token</code> of the data folder.
        </p>
      </Form>
    </main>
  );
}

const WHY = {
  new: '',
  expired: 'Your session is over, or the link was used before. Sign in again, and you are back where you were.',
  left: 'You have signed out.',
} as const;

function Why({ now }: { readonly now: Who }) {
  const text = now.state === 'out' ? WHY[now.why] : '';
  return text === '' ? null : <p role="status">{text}</p>;
}

function refused({ problem: { detail, why } }: ProblemError): string {
  return `${capitalized(detail)}: ${why}.`;
}
