import { setTimeout as delay } from 'node:timers/promises';
import { defineApp, ToolCallError, tool } from 'agent-session-gateway';
import { z } from 'zod';

/**
 * What answers. It needs no model and no key; put yours in its place:
 * node_modules/agent-session-gateway/docs/app-adapters.md has the AI SDK, OpenAI and others.
 */
export const app = defineApp({
  description: 'Rolls dice, and deletes files once you agree',
  suggestions: ['Hello', 'roll 20', 'delete report.txt'],
  tools: {
    roll: tool({
      description: 'Rolls a die',
      schema: z.object({ sides: z.number().int().min(2).max(100) }),
      handler: ({ sides }) => ({ sides, result: 1 + Math.floor(Math.random() * sides) }),
    }),
    delete: tool({
      description: 'Pretends to delete a file',
      schema: z.object({ file: z.string().min(1) }),
      confirm: true,
      confirmMessage: ({ file }) => `Delete ${file}?`,
      handler: ({ file }) => ({ deleted: file }),
    }),
  },
  async *run(turn) {
    const [command = '', argument = ''] = turn.text.trim().split(/\s+/);
    if (command === 'roll') {
      const { sides, result } = await turn.callTool('roll', { sides: Number(argument) || 6 });
      yield `A die of ${sides} sides shows ${result}.`;
      return;
    }
    if (command === 'delete') {
      const file = argument || 'report.txt';
      try {
        const { deleted } = await turn.callTool('delete', { file });
        yield `${deleted} is gone (not really).`;
      } catch (error) {
        if (!(error instanceof ToolCallError && error.denied)) throw error;
        yield `${file} stays.`;
      }
      return;
    }
    // A string is a piece of the answer; `turn.signal` says when somebody has pressed Stop.
    for (const word of `You said: ${turn.text}`.split(' ')) {
      await delay(60, undefined, { signal: turn.signal });
      yield `${word} `;
    }
  },
});
