import { CirclePower, Snail, Unplug, WifiOff } from 'lucide-react';
import { useMemo, useState, useSyncExternalStore } from 'react';
import { killServer, line, type TransportName } from '../shell/gateway.js';
import { settings } from '../shell/settings.js';
import { useRecord } from '../timeline/use-record.js';
import { Counter } from './counter.js';
import { gapsBetweenTokens, timesToFirstToken } from './figures.js';
import { Plot } from './plot.js';

const OFFLINE_MS = 5000;

/** Controls that disturb the line to the gateway, and the counts of events meanwhile. */
export function Network({
  transport,
  onTransport,
}: {
  readonly transport: TransportName;
  readonly onTransport: (transport: TransportName) => void;
}) {
  const { entries, outages } = useRecord();
  const { offline, slow, cuts } = useSyncExternalStore(line.subscribe, line.getState);
  const first = useMemo(() => timesToFirstToken(entries), [entries]);
  const gaps = useMemo(() => gapsBetweenTokens(entries), [entries]);
  const away = useMemo(() => outages.map(({ ms }) => ms), [outages]);
  return (
    <section className="tool network" aria-label="Network">
      <h2>Network</h2>
      <Counter />
      <div className="harms">
        <button type="button" className="danger" onClick={() => line.cut()}>
          <Unplug aria-hidden="true" />
          Cut the connection
        </button>
        <button type="button" disabled={offline} onClick={() => line.goOffline(OFFLINE_MS)}>
          <WifiOff aria-hidden="true" />
          {offline ? 'Offline…' : 'Go offline for 5 s'}
        </button>
        <button type="button" aria-pressed={slow} onClick={() => line.setSlow(!slow)}>
          <Snail aria-hidden="true" />
          Slow reader
        </button>
        {settings.killUrl !== undefined && <KillServer url={settings.killUrl} />}
      </div>
      <p className="muted">
        Cut {cuts} {cuts === 1 ? 'time' : 'times'}. A cut ends all that is open between this page and the
        gateway, in the middle of whatever it was. The page then shows its cursor, and the gateway goes on
        with the very next event.
      </p>
      <fieldset className="segments">
        <legend>Transport</legend>
        {(['sse', 'websocket'] as const).map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="transport"
              checked={name === transport}
              onChange={() => onTransport(name)}
            />
            {name === 'sse' ? 'Server-Sent Events' : 'WebSocket'}
          </label>
        ))}
      </fieldset>
      <Plot title="Time to first token" values={first} none="no answer yet" />
      <Plot title="Between tokens, as they came" values={gaps} none="no answer yet" />
      <Plot title="Without a connection" values={away} none="never yet" />
    </section>
  );
}

/** Kills the server's process. Its supervisor starts it again. */
function KillServer({ url }: { readonly url: string }) {
  const [problem, setProblem] = useState('');
  const kill = () => {
    setProblem('');
    killServer(url).catch((error: Error) => setProblem(error.message));
  };
  return (
    <>
      <button type="button" className="danger" onClick={kill}>
        <CirclePower aria-hidden="true" />
        Kill the server
      </button>
      {problem && (
        <p className="bad" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
