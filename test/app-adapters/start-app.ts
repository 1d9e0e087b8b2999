import type { Client } from '../../client/index.js';
import type { Application, GatewayEvent, HostRun, HostSendOptions } from '../../server/index.js';
import { connectClient } from '../support/client.js';
import { startGateway, type TestLogger } from '../support/gateway.js';

export interface StartedApp {
  readonly client: Client;
  readonly log: TestLogger;
  /** Sends as the user of the client, with what only host code and plugins can add. */
  send(text: string, options: HostSendOptions): HostRun;
}

/** Puts an app behind a real gateway and connects a real client over HTTP. */
export async function startApp(app: Application): Promise<StartedApp> {
  const { gateway, url, log } = await startGateway({ app });
  const client = connectClient(url);
  return {
    client,
    log,
    send: (text, options) => gateway.session('main', { user: { id: 'token' } }).send(text, options),
  };
}

/** The events of a run by type and with what the test may compare: no ids of runs and messages, no times. */
export function outline(events: readonly GatewayEvent[]): Record<string, unknown>[] {
  return events
    .filter(({ type }) => !['message_accepted', 'message_start', 'message_end'].includes(type))
    .map(({ cursor: _cursor, ...event }) => {
      const {
        runId: _runId,
        ts: _ts,
        sessionId: _session,
        index: _index,
        ...rest
      } = event as Record<string, unknown>;
      return rest;
    });
}
