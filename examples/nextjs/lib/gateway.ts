import { setTimeout as delay } from 'node:timers/promises';
import { createGateway, defineApp, ToolCallError, tool } from 'agent-session-gateway';
import { z } from 'zod';

function makeGateway() {
  return createGateway({
    embedded: true,
    // Everybody is the same user: yours will log in.
    auth: { type: 'none' },
    app: defineApp({
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
    }),
  });
}

// Next.js loads modules more than once, and anew while it develops; the gateway and its sessions stay the same.
const kept = globalThis as { agentGateway?: ReturnType<typeof makeGateway> };
kept.agentGateway ??= makeGateway();
export const gateway = kept.agentGateway;
