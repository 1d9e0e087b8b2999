import Anthropic from '@anthropic-ai/sdk';
import type { GatewayConfig } from '../../../server/index.js';
import { type SessionsApiOptions, sessionsApiPlugin } from '../../../server/plugins/sessions-api/index.js';
import type { TestGateway } from '../../support/gateway.js';
import { until } from '../../support/until.js';
import { type Asking, askBelow, startDoor } from '../door.js';

export interface SessionsGateway extends TestGateway, Asking {
  /** The vendor's own client, for a user of `byName`. */
  client(user?: string, url?: string): Anthropic;
  /** Begins a session, and says something in it. */
  begin(client: Anthropic, text: string, agent?: string): Promise<string>;
}

/** A gateway with the plugin. */
export async function startSessions(
  config: GatewayConfig<any, any, any>,
  options?: SessionsApiOptions,
): Promise<SessionsGateway> {
  const started = await startDoor(sessionsApiPlugin(options), config);
  const client = (user = 'alice', url = started.url): Anthropic =>
    new Anthropic({ baseURL: url, apiKey: user, maxRetries: 0 });
  return {
    ...started,
    client,
    ask: askBelow(started.url),
    async begin(sdk, text, agent = 'default') {
      const { id } = await sdk.beta.sessions.create({ agent, environment_id: 'env_1' });
      await sdk.beta.sessions.events.send(id, { events: [says(text)] });
      return id;
    },
  };
}

export const says = (text: string) => ({
  type: 'user.message' as const,
  content: [{ type: 'text' as const, text }],
});

/** What an event says. */
export const textOf = ({ content = [] }: any): string => content.map(({ text = '' }: any) => text).join('');

/** Whether nothing follows by itself. */
export const isIdle = (event: any): boolean => event.type === 'session.status_idle';

/** Reads a stream up to an event. */
export async function readUntil(stream: any, last: (event: any) => boolean): Promise<any[]> {
  const events: any[] = [];
  for await (const event of stream) {
    events.push(event);
    if (last(event)) break;
  }
  stream.controller.abort();
  return events;
}

/** All events of a session, by pages. */
export async function listed(client: Anthropic, id: string, query: object = {}): Promise<any[]> {
  const events: any[] = [];
  for await (const event of client.beta.sessions.events.list(id, query)) events.push(event);
  return events;
}

/** All events of a session, once its turn has ended. */
export async function ended(client: Anthropic, id: string): Promise<any[]> {
  let events: any[] = [];
  await until(async () => {
    events = await listed(client, id);
    return ['end_turn', 'retries_exhausted'].includes(events.findLast(isIdle)?.stop_reason.type);
  });
  return events;
}
