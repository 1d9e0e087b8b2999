import { isGatewayError } from 'agent-session-gateway/client';
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { App } from './app.js';
import { openClient } from './gateway.js';
import { keepToken, token } from './token.js';

const SignIn = lazy(async () => ({ default: (await import('./sign-in.js')).SignIn }));

type Standing =
  | { readonly is: 'asking' }
  | { readonly is: 'known'; readonly user: string; readonly oversees: boolean }
  | { readonly is: 'unknown'; readonly problem: string };

/** Finds out the page's user, and asks for a token if the gateway needs one. */
export function Start() {
  const [standing, setStanding] = useState<Standing>({ is: 'asking' });
  const ask = useCallback(() => {
    const client = openClient('sse');
    client
      .status()
      .then(
        ({ user, oversees = false }) => setStanding({ is: 'known', user: user?.id ?? 'anonymous', oversees }),
        (error: unknown) => setStanding({ is: 'unknown', problem: problemOf(error) }),
      )
      .finally(() => client.disconnect());
  }, []);
  useEffect(ask, [ask]);

  if (standing.is === 'asking')
    return (
      <main className="asg sign-in" aria-busy="true">
        <h1 className="unseen">Playground</h1>
        <p className="muted" role="status">
          <span className="thinking" aria-hidden="true" /> Asking the gateway…
        </p>
      </main>
    );
  if (standing.is === 'known') {
    const signOut = () => {
      keepToken('');
      setStanding({ is: 'unknown', problem: '' });
    };
    return <App user={standing.user} oversees={standing.oversees} onSignOut={signOut} />;
  }
  const signIn = (text: string) => {
    keepToken(text);
    setStanding({ is: 'asking' });
    ask();
  };
  return (
    <Suspense fallback={null}>
      <SignIn problem={standing.problem} onToken={signIn} />
    </Suspense>
  );
}

function problemOf(error: unknown): string {
  if (isGatewayError(error) && error.status === 401) return token() ? 'The gateway refuses this token.' : '';
  return error instanceof Error ? error.message : String(error);
}
