import { setTimeout as delay } from 'node:timers/promises';
import { defineApp, type GatewayConfig } from '../../server/index.js';

/** The gateway that the program of `program.ts` expects. Cuts all connections in the middle of the answer. */
export function platformGateway(cut: () => void): Pick<GatewayConfig, 'app' | 'methods'> {
  return {
    app: defineApp({
      async *run(turn) {
        for (let at = 0; at < 30; at++) {
          if (at === 10) cut();
          await delay(5, undefined, { signal: turn.signal });
          yield `${at} é 漢字 `;
        }
      },
    }),
    methods: {
      double: async (params: { readonly n: number }) => params.n * 2,
      count: async function* (params: { readonly to: number }) {
        for (let at = 1; at <= params.to; at++) yield at;
      },
    },
  };
}
