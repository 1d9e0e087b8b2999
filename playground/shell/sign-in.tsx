import { type FormEvent, useState } from 'react';
import { Logo } from './header.js';
import { settings } from './settings.js';

/** Asks for a token. Only this tab keeps it, and it goes only to the gateway. */
export function SignIn({
  problem,
  onToken,
}: {
  readonly problem: string;
  readonly onToken: (text: string) => void;
}) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onToken(text.trim());
  };
  return (
    <main className="asg sign-in">
      <form className="card" onSubmit={submit}>
        <h1>
          <Logo /> Playground
        </h1>
        <p>
          This gateway wants to know who you are. Open the link that it has printed at its start, which
          carries a token, or write one here.
        </p>
        <div className="field">
          <label htmlFor="token">Token</label>
          <input
            id="token"
            type="password"
            autoComplete="off"
            value={text}
            aria-invalid={problem !== ''}
            aria-describedby="token-about"
            onChange={({ target }) => setText(target.value)}
          />
          <p id="token-about" className={problem ? 'bad' : 'muted'} role={problem ? 'alert' : undefined}>
            {problem || 'Kept for this tab alone, until it is closed.'}
          </p>
        </div>
        <button type="submit" className="primary">
          Connect
        </button>
        <p className="muted">{settings.baseUrl}</p>
      </form>
    </main>
  );
}
