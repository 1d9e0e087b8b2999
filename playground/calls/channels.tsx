import { useChannel, useSessionEvents } from 'agent-session-gateway/client/react';
import { useState } from 'react';
import { SchemaForm } from '../../templates/components/form/schema-form.js';
import { Code } from '../shell/code.js';
import { settings } from '../shell/settings.js';

interface Declared {
  readonly name: string;
  readonly payload: unknown;
}

/** The messages published in the session, as they arrive, and a form to publish. */
export function Channels({
  sessionId,
  channels,
  events,
}: {
  readonly sessionId: string;
  readonly channels: readonly Declared[];
  readonly events: readonly Declared[];
}) {
  const [heard, setHeard] = useState<readonly { readonly key: string; readonly text: string }[]>([]);
  useSessionEvents(
    sessionId,
    (event) => {
      const said =
        event.type === 'channel'
          ? `${event.channel} ${JSON.stringify(event.event.payload)}`
          : event.type === 'custom'
            ? `${event.name} ${JSON.stringify(event.payload)}`
            : 'messages are missing here';
      setHeard((all) => [{ key: event.cursor ?? String(Math.random()), text: said }, ...all].slice(0, 100));
    },
    { types: ['channel', 'custom', 'gap'], from: 'now', onError: () => {} },
  );
  return (
    <>
      <h2>Channels and custom events</h2>
      {!settings.readOnly &&
        channels.map((channel) => <Publish key={channel.name} sessionId={sessionId} channel={channel} />)}
      {channels.length === 0 && <p className="muted">This gateway declares no channels.</p>}
      {events.length > 0 && (
        <p className="muted">Custom events: {events.map(({ name }) => name).join(', ')}</p>
      )}
      <ul className="heard" aria-live="polite" aria-label={`Heard in ${sessionId}`}>
        {heard.map(({ key, text }) => (
          <li key={key}>
            <code>{text}</code>
          </li>
        ))}
      </ul>
      {heard.length === 0 && (
        <p className="muted">What is published in {sessionId} from now on is shown here.</p>
      )}
    </>
  );
}

function Publish({ sessionId, channel }: { readonly sessionId: string; readonly channel: Declared }) {
  const { name, payload: schema } = channel;
  const { publish } = useChannel(sessionId, name);
  const [payload, setPayload] = useState<unknown>({});
  const [problem, setProblem] = useState<unknown>();
  const [isPending, setPending] = useState(false);
  return (
    <details className="card method">
      <summary>
        <code>{name}</code>
        <span className="badge">channel</span>
      </summary>
      <SchemaForm
        schema={schema}
        label="Publish"
        isPending={isPending}
        problem={problem}
        onChange={setPayload}
        onSubmit={(value) => {
          setPending(true);
          setProblem(undefined);
          publish(value)
            .catch(setProblem)
            .finally(() => setPending(false));
        }}
      />
      <Code what={`publish on ${name}`} of={({ publishRecipe }) => publishRecipe(sessionId, name, payload)} />
    </details>
  );
}
