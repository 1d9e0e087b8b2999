import { defineApp, type Tool, tool } from '../../server/index.js';
import type { Store } from '../../server/stores/store.js';
import { BALANCED } from '../support/gateway.js';
import { ENGINES } from '../support/stores.js';

/** The stores that every behaviour is shown on. */
export const STORES: readonly (readonly [string, () => Store])[] =
  BALANCED.length > 0
    ? BALANCED
    : [
        ['memoryStore', ENGINES.memory],
        ['sqliteStore', ENGINES.SQLite],
      ];

/** Does what it is told: each word is one of what apps do. */
export function actor(effects: string[] = [], confirm: Tool<any, any>['confirm'] = true) {
  const done = (name: string) => (input: { readonly n?: number }) => {
    effects.push(name);
    return { did: name, n: input.n ?? 0 };
  };
  const app = defineApp({
    tools: {
      look: tool({ schema: undefined as never, handler: done('look') }),
      pay: tool({ schema: undefined as never, confirm, handler: done('pay') }),
      fail: tool({
        schema: undefined as never,
        handler: () => {
          throw new Error('secret');
        },
      }),
      where: tool({ runsOn: 'client' } as never),
    } as any,
    async *run(turn: any) {
      for (const word of turn.text.split(' ')) {
        if (word === 'think') yield { type: 'reasoning_delta', delta: 'Let me think. ' } as const;
        else if (word === 'look' || word === 'pay' || word === 'fail' || word === 'where') {
          const result = await turn.callTool(word, { n: 1 }).catch((error: Error) => error.message);
          yield `[${word}: ${JSON.stringify(result)}] `;
        } else if (word === 'both') {
          const results = await Promise.all([turn.callTool('pay', { n: 2 }), turn.callTool('pay', { n: 3 })]);
          yield `[both: ${JSON.stringify(results)}] `;
        } else if (word === 'mixed') {
          const results = await Promise.all([turn.callTool('pay', { n: 2 }), turn.callTool('where', {})]);
          yield `[mixed: ${JSON.stringify(results)}] `;
        } else if (word === 'data') turn.data('weather', { degrees: 20 }, { id: 'w' });
        else if (word === 'ask')
          yield `[${JSON.stringify(await turn.ask({ name: 'colour', payload: { of: 'car' } }))}] `;
        else if (word === 'break') throw new Error('secret');
        else yield `${word} `;
      }
    },
  });
  return { app, effects };
}
