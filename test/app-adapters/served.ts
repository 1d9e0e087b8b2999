import { expect } from 'chai';
import type { Client } from '../../client/index.js';
import type { GatewayConfig, HostRun, HostSendOptions } from '../../server/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { ChatEndpoint } from '../support/chat-endpoint.js';
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

const FRAME = new Set([
  'message_accepted',
  'message_start',
  'usage_added',
  'tool_confirmation_result',
  'input_result',
]);

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

/** Shows that an app tells of two calls of a tool, and of their results, each once and in order. */
export async function showsTwoCalls(
  client: Client,
  endpoint: ChatEndpoint,
  { says, outputOf }: { readonly says: string; outputOf(city: string): unknown },
): Promise<void> {
  const run = client.send('main', 'Weather?');
  const seen = follow(run);
  (await endpoint.next())
    .text('I look. ')
    .call('call_1', 'weather', { city: 'Rome' })
    .call('call_2', 'weather', { city: 'Oslo' }, 1)
    .finish('tool_calls');
  (await endpoint.next()).text(says).finish();
  expect(await seen).to.deep.equal([
    ['content_delta', 'I look. '],
    ['tool_use', 'call_1', 'weather', { city: 'Rome' }],
    ['tool_use', 'call_2', 'weather', { city: 'Oslo' }],
    ['tool_result', 'call_1', 'weather', outputOf('Rome'), false],
    ['tool_result', 'call_2', 'weather', outputOf('Oslo'), false],
    ['content_delta', says],
    ['message_end', 'end'],
  ]);
  expect((await run.result).usage).to.deep.equal({ inputTokens: 6, outputTokens: 4, totalTokens: 10 });
}

/** What is shown of a run that has its client pick. @param says What the model says of it */
export const picked = (callId: unknown, says: string): unknown[][] => [
  ['content_delta', 'Choose. '],
  ['tool_use', callId, 'pick', { of: 3 }],
  ['input_required', 'pick', { of: 3 }],
  ['tool_result', callId, 'pick', { picked: 2 }, false],
  ['content_delta', says],
  ['message_end', 'end'],
];

/** What the model is told of a conversation when somebody goes on with it: roles and contents. */
export async function toldOf(client: Client, endpoint: ChatEndpoint, text: string): Promise<unknown> {
  const run = client.send('main', text);
  const { body } = await endpoint.next();
  await run.abort();
  return body.messages.map(({ role, content }: any) => [role, content]);
}

/** The events of a run by type and with what the test may compare: no ids of runs and messages, no times. */
export function outline(events: readonly GatewayEvent[]): Record<string, unknown>[] {
  return events
    .filter(({ type }) => !['message_accepted', 'message_start', 'usage_added', 'message_end'].includes(type))
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
