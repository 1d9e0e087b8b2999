import type { Client } from 'agent-session-gateway/client';
import { useRead } from '../../templates/components/ui/apps.js';
import { Loading } from '../shell/loading.js';
import { settings } from '../shell/settings.js';
import { Channels } from './channels.js';
import { MethodCall } from './method-call.js';
import { OtherMethod } from './other-method.js';

const readMethods = (client: Client) => client.methods();

/** The host's own methods and channels, for trying them. */
export function Calls({ sessionId }: { readonly sessionId: string }) {
  const { data, error } = useRead(readMethods);
  if (error) {
    return (
      <p className="notice bad" role="alert">
        {error.message}
      </p>
    );
  }
  if (!data) return <Loading />;
  return (
    <section className="tool" aria-label="Calls">
      <h2>Methods</h2>
      {data.methods.length === 0 && <p className="muted">This gateway has no methods of its own.</p>}
      {data.methods.map((method) => (
        <MethodCall key={method.path} method={method} />
      ))}
      {!settings.readOnly && <OtherMethod />}
      <Channels sessionId={sessionId} channels={data.channels ?? []} events={data.events ?? []} />
    </section>
  );
}
