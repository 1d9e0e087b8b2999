import { defineApp, type ToolContext, type ToolSet, tool } from '../../../server/index.js';
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
