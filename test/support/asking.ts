import { defineApp, tool } from '../../server/index.js';
import { post } from './gateway.js';
import { openStream } from './sse-client.js';
import { as } from './users.js';

/** Asks whether it may erase where it is told to `ask`, and tells a secret of its user else. */
export const asking = defineApp({
  description: 'Asks',
  tools: { erase: tool({ confirm: true, handler: () => 'erased' }) },
  run: async (turn) => (turn.text === 'ask' ? turn.callTool('erase', {}) : `secret of ${turn.user?.id}`),
});

/** Has Alice follow a session in which that app asks. @returns her stream, and what she is asked */
export async function askedOfAlice(url: string, sessionId: string) {
  const stream = await openStream(`${url}/events?sessionId=${sessionId}`, { headers: as('alice') });
  await stream.until(({ event }) => event === 'connected');
  const headers = { ...as('alice'), prefer: 'respond-async' };
  await post(`${url}/send`, { sessionId, message: 'ask' }, headers);
  return { stream, asked: await stream.until(({ event }) => event === 'tool_confirmation_required') };
}
