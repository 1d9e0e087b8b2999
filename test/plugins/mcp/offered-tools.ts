import { defineApp, type ToolContext, type ToolSet, tool, toolResult } from '../../../server/index.js';
import { gate } from '../../support/gate.js';

/** A tool that pays when somebody has confirmed it, what it paid, and further tools. */
export function payments(more: (paid: unknown[]) => ToolSet = () => ({})) {
  const paid: unknown[] = [];
  const app = defineApp({
    run: () => 'unused',
    tools: {
      pay: tool({
        confirm: true,
        confirmMessage: 'Really pay?',
        handler: ({ sum }: any) => {
          paid.push(sum);
          return `paid ${sum}`;
        },
      }),
      ...more(paid),
    },
  });
  return { app, paid };
}

/** A tool that says when it began, and answers when the test lets it. */
export function heldTool(more: ToolSet = {}) {
  const began = gate();
  const held = gate<string>();
  const aborted = gate();
  const app = defineApp({
    run: () => 'unused',
    tools: {
      held: tool({
        handler: (_input: unknown, { signal }: ToolContext) => {
          signal.addEventListener('abort', () => aborted.open());
          began.open();
          return held.passed;
        },
      }),
      ...more,
    },
  });
  return { app, began, held, aborted };
}

/** Tools that give whatever tools give. */
export const giving = defineApp({
  run: () => 'unused',
  tools: {
    words: tool({ handler: () => 'words' }),
    nothing: tool({ handler: () => undefined }),
    json: tool({ handler: () => ({ a: [1, { b: null }], at: new Date(0) }) }),
    list: tool({ handler: () => [1, 2] }),
    like: tool({ handler: () => ({ content: [1], more: true }) }),
    image: tool({
      handler: () => toolResult({ content: [{ type: 'image', mediaType: 'image/png', data: 'AAAA' }] }),
    }),
    both: tool({
      handler: () => toolResult({ content: [{ type: 'text', text: 'both' }], structured: { both: true } }),
    }),
    wrong: tool({ handler: () => toolResult({ content: [{ type: 'text', text: 'no' }], isError: true }) }),
    fails: tool({
      handler: () => {
        throw new Error('secret');
      },
    }),
  },
});
