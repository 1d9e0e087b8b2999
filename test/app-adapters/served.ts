import type { Client } from '../../client/index.js';
import type { GatewayConfig, HostRun, HostSendOptions } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { connectClient } from '../support/client.js';
import { startGateway, type TestGateway } from '../support/gateway.js';

export interface Served extends TestGateway {
  readonly client: Client;
  /** Sends as the user of the client, with what only host code and plugins can add. */
  send(text: string, options: HostSendOptions): HostRun;
}

/** Puts an app behind a real gateway and connects a real client over HTTP. */
export async function serve(
  app: NonNullable<GatewayConfig['app']>,
  config: GatewayConfig<any, any, any> = {},
): Promise<Served> {
  const started = await startGateway({ app, ...config });
  const send = (text: string, options: HostSendOptions): HostRun =>
    started.gateway.session('main', { user: { id: 'token' } }).send(text, options);
  return { ...started, client: connectClient(started.url), send };
}

/** An event in short: its type and what is in it. */
export function brief(event: GatewayEvent): unknown[] {
  switch (event.type) {
    case 'content_delta':
    case 'reasoning_delta':
      return [event.type, event.delta];
    case 'tool_use':
    case 'tool_confirmation_required':
      return [event.type, event.callId, event.name, event.input];
    case 'tool_result':
      return [event.type, event.callId, event.name, event.output, event.isError];
    case 'custom':
      return [event.type, event.name, event.payload];
    case 'data':
      return [event.type, event.name, event.value];
    case 'input_required':
      return [event.type, event.name, event.payload];
    case 'message_end':
      return [event.type, event.stopReason];
    case 'run_error':
      return [event.type, event.code, event.message];
    default:
      return [event.type];
  }
}

const FRAME = new Set(['message_accepted', 'message_start', 'tool_confirmation_result', 'input_result']);

/** All events of a run in short, but for those that every run has; `act` hears each as it comes. */
export async function follow(
  run: AsyncIterable<GatewayEvent>,
  act: (event: GatewayEvent) => unknown = () => {},
): Promise<unknown[][]> {
  const seen: unknown[][] = [];
  for await (const event of run) {
    if (!FRAME.has(event.type)) seen.push(brief(event));
    await act(event);
  }
  return seen;
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
