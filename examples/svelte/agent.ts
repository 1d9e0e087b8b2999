import { setTimeout as delay } from 'node:timers/promises';
import { defineApp, type GatewayConfig, ToolCallError, tool } from 'agent-session-gateway';
import { z } from 'zod';

const app = defineApp({
  tools: {
    delete: tool({
      schema: z.object({ file: z.string() }),
      confirm: true,
      confirmMessage: ({ file }) => `Delete ${file}?`,
      handler: ({ file }) => `${file} is gone (not really).`,
    }),
  },
  async *run(turn) {
    const [command, file = 'report.txt'] = turn.text.split(' ');
    if (command === 'delete') {
      try {
        yield await turn.callTool('delete', { file });
      } catch (error) {
        if (!(error instanceof ToolCallError && error.denied)) throw error;
        yield `${file} stays.`;
      }
      return;
    }
    for (const word of `You said: ${turn.text}`.split(' ')) {
      await delay(50, undefined, { signal: turn.signal });
      yield `${word} `;
    }
  },
});

/** What `agent-session-gateway dev agent.ts` serves. Everybody who reaches it is the same user: yours will log in. */
export const config: GatewayConfig = { app, auth: { type: 'none' } };
