import { setTimeout as delay } from 'node:timers/promises';
import {
  createGateway,
  createInProcessTransport,
  defineApp,
  ToolCallError,
  tool,
} from 'agent-session-gateway';
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

function make() {
  const gateway = makeGateway();
  // In the same process, as the user whose page this is.
  return { gateway, transport: () => createInProcessTransport(gateway, { anonymous: true }) };
}

// Next.js loads modules more than once, pages apart from routes, and anew while it develops. The gateway and its sessions stay the same,
// and the copy of the package that made it also makes its transports.
const kept = globalThis as { agent?: ReturnType<typeof make> };
kept.agent ??= make();
export const { gateway, transport } = kept.agent;
