import { useState } from 'react';
import { type Replayed, replay } from '../shell/gateway.js';
import { settings } from '../shell/settings.js';

/** Has a session run against its app as it is now, with the answers of tools and people that it had, and shows where it parts from what was. */
export function Replay({ sessionId }: { readonly sessionId: string }) {
  const { replayUrl } = settings;
  const [mayDiffer, setMayDiffer] = useState(false);
  const [waits, setWaits] = useState(false);
  const [came, setCame] = useState<Replayed>();
  const [problem, setProblem] = useState('');
  if (replayUrl === undefined) return null;
  const start = () => {
    setWaits(true);
    setCame(undefined);
    setProblem('');
    replay(replayUrl, sessionId, mayDiffer)
      .then(setCame, (error: Error) => setProblem(error.message))
      .then(() => setWaits(false));
  };
  return (
    <section className="replay" aria-label="Replay">
      <div className="row">
        <button type="button" disabled={waits} onClick={start}>
          Replay with the app as it is now
        </button>
        <label>
          <input
            type="checkbox"
            checked={mayDiffer}
            onChange={({ target }) => setMayDiffer(target.checked)}
          />{' '}
          Answers may differ
        </label>
      </div>
      <div role="status">
        {waits && <p className="muted">Runs…</p>}
        {problem && <p className="bad">{problem}</p>}
        {came && <Outcome {...came} />}
      </div>
    </section>
  );
}

function Outcome({ turns, divergence }: Replayed) {
  if (!divergence) return <p>The same: {turns === 1 ? '1 turn' : `${turns} turns`}</p>;
  const { turn, message, step, text } = divergence;
  return (
    <>
      <p className="bad">
        Differs in turn {turn}, {step}, at <q dir="auto">{message}</q>
      </p>
      <pre tabIndex={0}>{text}</pre>
    </>
  );
}
