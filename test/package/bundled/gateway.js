// A gateway with each store and each plugin, as a program has it that is bundled.
import { createGateway, defineApp, method } from 'agent-session-gateway';
import { a2aPlugin } from 'agent-session-gateway/plugins/a2a';
import { agUiPlugin } from 'agent-session-gateway/plugins/ag-ui';
import { chatCompletionsPlugin } from 'agent-session-gateway/plugins/chat-completions';
import { langGraphPlugin } from 'agent-session-gateway/plugins/langgraph';
import { mcpServerPlugin } from 'agent-session-gateway/plugins/mcp';
import { metricsPlugin } from 'agent-session-gateway/plugins/metrics';
import { playgroundPlugin } from 'agent-session-gateway/plugins/playground';
import { responsesPlugin } from 'agent-session-gateway/plugins/responses';
import { sessionsApiPlugin } from 'agent-session-gateway/plugins/sessions-api';
import { uiMessageStreamPlugin } from 'agent-session-gateway/plugins/ui-message-stream';
import { postgresStore } from 'agent-session-gateway/stores/postgres';
import { redisStore } from 'agent-session-gateway/stores/redis';
import { sqliteStore } from 'agent-session-gateway/stores/sqlite';
import { z } from 'zod';
import { z as z3 } from 'zod/v3';

/** Nothing connects to these: their packages are found all the same. */
export const stores = [
  postgresStore({ url: 'postgres://127.0.0.1:1/none' }),
  redisStore({ url: 'redis://127.0.0.1:1' }),
];

export const gateway = createGateway({
  embedded: true,
  app: defineApp({
    async *run(turn) {
      yield `You said ${turn.text}`;
    },
  }),
  methods: {
    double: method({ schema: z.object({ n: z.number() }), handler: ({ n }) => n * 2 }),
    triple: method({ schema: z3.object({ n: z3.number() }), handler: ({ n }) => n * 3 }),
  },
  store: sqliteStore({ path: 'kept.db' }),
  auth: { type: 'none' },
  // A machine that runs tests has others to serve.
  limits: { loopDelayMs: Number.POSITIVE_INFINITY },
});
for (const plugin of [
  a2aPlugin(),
  agUiPlugin({ path: '/ag-ui' }),
  chatCompletionsPlugin(),
  langGraphPlugin({ path: '/langgraph' }),
  mcpServerPlugin({ sessionId: 'main' }),
  metricsPlugin({ token: 'a-token-of-metrics-of-32-characters' }),
  playgroundPlugin(),
  responsesPlugin(),
  sessionsApiPlugin({ path: '/vendor' }),
  uiMessageStreamPlugin({ path: '/api/chat' }),
])
  gateway.use(plugin);
