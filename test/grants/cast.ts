import { type AppEvent, defineApp, type GatewayConfig, type Turn, tool } from '../../server/index.js';
import type { Grant, ShareParams } from '../../shared/grants.js';
import { get, post, startGateway } from '../support/gateway.js';
import { as, byName } from '../support/users.js';

/** What an answer of the app has where a grant may not show it. */
export const SECRETS = {
  reasoning: 'a-secret-thought',
  toolInput: 'a-secret-input',
  toolOutput: 'a-secret-output',
  data: 'a-secret-value',
  usage: 987_654_321,
  metadata: 'a-secret-note',
} as const;

/** A child run that has the same where a grant may not show it. */
async function* thinker(turn: Turn): AsyncGenerator<string | AppEvent> {
  const call = { callId: 'child-call', name: 'look' };
  yield { type: 'reasoning_delta', delta: SECRETS.reasoning };
  yield { type: 'tool_use', ...call, input: SECRETS.toolInput };
  yield { type: 'tool_progress', callId: call.callId, value: 1, message: SECRETS.toolOutput };
  yield { type: 'tool_result', ...call, output: SECRETS.toolOutput, isError: false };
  yield { type: 'data', id: 'c', name: 'chart', value: SECRETS.data };
  turn.usage({ inputTokens: SECRETS.usage });
  turn.annotate({ note: SECRETS.metadata });
  yield 'thought';
}

/** An app that thinks, calls tools, shows data, and says which user it speaks with. */
export const talker = defineApp({
  tools: {
    look: tool({
      handler: (_input: unknown, { progress }) => {
        progress(1, 2, SECRETS.toolOutput);
        return { found: SECRETS.toolOutput };
      },
    }),
    pay: tool({
      confirm: {
        ...{ message: `Pay ${SECRETS.toolInput}?`, approvals: 1, guests: true },
        ...{ expiresInMs: 600_000, onExpiry: 'deny' },
      },
      handler: () => SECRETS.toolOutput,
    }),
  },
  async *run(turn) {
    if (turn.text === 'pay') await turn.callTool('pay', { to: SECRETS.toolInput });
    if (turn.text === 'think') {
      yield { type: 'reasoning_delta', delta: SECRETS.reasoning };
      await new Promise(setImmediate);
      yield { type: 'reasoning_delta', delta: ` more of ${SECRETS.reasoning}` };
      await turn.callTool('look', { for: SECRETS.toolInput });
      turn.data('chart', SECRETS.data, { id: 'd' });
      turn.usage({ inputTokens: SECRETS.usage });
      turn.annotate({ note: SECRETS.metadata });
      await turn.spawn('thinker', { message: 'think', run: thinker }).result;
    }
    yield `Hello ${turn.user?.id}`;
  },
});

/** A gateway at which Ann has a session `main`, and shares it. */
export async function begin(config: Partial<GatewayConfig<any, any, any>> = {}) {
  const started = await startGateway({ app: talker, auth: byName, ...config });
  const ann = as('ann');
  const send = (message: string, headers: Record<string, string> = ann, sessionId = 'main') =>
    post(`${started.url}/send`, { sessionId, message, metadata: { note: SECRETS.metadata } }, headers);
  const share = (
    given: Omit<ShareParams, 'sessionId'>,
    headers: Record<string, string> = ann,
    sessionId = 'main',
  ) => post(`${started.url}/share`, { sessionId, ...given }, headers);
  const shared = async (
    given: Omit<ShareParams, 'sessionId'>,
  ): Promise<Grant & { readonly token?: string }> => {
    const { status, body } = await share(given);
    if (status !== 200) throw new Error(JSON.stringify(body));
    return { ...body.grant, ...(body.token && { token: body.token }) };
  };
  return {
    ...{ ...started, ann, send, share, shared },
    grants: async (headers = ann, sessionId = 'main') =>
      get(`${started.url}/grants?sessionId=${sessionId}`, headers),
    unshare: (grantId: string, headers = ann, sessionId = 'main') =>
      post(`${started.url}/unshare`, { sessionId, grantId }, headers),
  };
}

/** What tells one answer from another. */
export const told = ({ status, body }: { status: number; body: any }) => [status, body?.error?.code];
