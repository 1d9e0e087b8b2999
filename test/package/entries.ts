/** The package's name. */
export const NAME = 'agent-session-gateway';

/** Values that programs of others are written against. */
export const NAMES: Record<string, readonly string[]> = {
  [NAME]: [
    'createGateway',
    'Gateway',
    'gatewayMiddleware',
    'defineApp',
    'tool',
    'toolResult',
    'method',
    'getContext',
    'formatSessionKey',
    'parseSessionKey',
    'GatewayError',
    'GuardError',
    'isGatewayError',
    'isGuardError',
    'PROTOCOL_VERSION',
    'memoryStore',
    'createInProcessTransport',
  ],
  [`${NAME}/diagnostics`]: ['channels'],
  [`${NAME}/recording`]: ['recording', 'recordInto', 'modelFetch', 'exportDataset'],
  [`${NAME}/testing`]: ['testGateway', 'scripted', 'testGateways'],
  [`${NAME}/testing/stores`]: ['describeStore'],
  [`${NAME}/client/ai-sdk`]: ['gatewayChat'],
  [`${NAME}/client/tanstack`]: ['gatewayConnection'],
  [`${NAME}/telemetry`]: ['telemetryPlugin'],
  [`${NAME}/client/files`]: ['createFiles'],
  [`${NAME}/client/history`]: ['appendMessages', 'exportSession'],
  [`${NAME}/client/people`]: [
    'sessionControl',
    'sessionPresence',
    'sessionReactions',
    'sessionRetraction',
    'sessionSharing',
  ],
  [`${NAME}/client/runs`]: ['childrenOf', 'runTree', 'sessionRuns'],
  [`${NAME}/client/budgets`]: ['clientUsage', 'usageCsv'],
  [`${NAME}/client/schedules`]: ['sessionSchedules'],
  [`${NAME}/client/search`]: ['clientSearch'],
  [`${NAME}/client/inbox`]: ['clientInbox', 'readWhileVisible'],
  [`${NAME}/client/push`]: ['clientPush'],
  [`${NAME}/client/push-worker`]: [],
  [`${NAME}/notices`]: ['verifyWebhook', 'webPush'],
  [`${NAME}/client/offline`]: ['indexedDb', 'storage'],
  [`${NAME}/client/node`]: ['createUnixSocketClientTransport'],
  [`${NAME}/client`]: [
    'createClient',
    'sseTransport',
    'webSocketTransport',
    'initialState',
    'reduce',
    'isTerminal',
    'GatewayError',
  ],
  [`${NAME}/client/react`]: ['GatewayProvider', 'useGateway', 'useSession', 'gatewayHooks'],
  [`${NAME}/client/vue`]: ['GATEWAY', 'useGateway', 'useSession', 'useConnection'],
  [`${NAME}/client/svelte`]: ['liveSession', 'liveConnection'],
  [`${NAME}/protocol`]: [
    'OPERATIONS',
    'operationSchemas',
    'ERROR_TABLE',
    'parseCursor',
    'SseDecoder',
    'reduce',
  ],
  [`${NAME}/apps/ai-sdk`]: ['aiSdkApp', 'toModelMessages', 'fromModelMessages'],
  [`${NAME}/apps/acp`]: ['acpApp'],
  [`${NAME}/apps/claude-agent`]: ['claudeAgentApp'],
  [`${NAME}/apps/anthropic`]: ['anthropicApp', 'toAnthropicMessages'],
  [`${NAME}/apps/openai`]: ['openaiApp', 'backgroundResponse', 'toChatMessages', 'fromChatMessages'],
  [`${NAME}/stores`]: ['StoreError'],
  [`${NAME}/stores/postgres`]: ['postgresStore'],
  [`${NAME}/stores/redis`]: ['redisStore'],
  [`${NAME}/stores/sqlite`]: ['sqliteStore'],
  [`${NAME}/nest`]: [
    'GatewayModule',
    'GatewayService',
    'GatewayController',
    'GatewayErrorFilter',
    'GATEWAY',
    'GATEWAY_APP',
    'getAppToken',
  ],
  [`${NAME}/apps/a2a`]: ['a2aApp'],
  [`${NAME}/apps/ag-ui`]: ['agUiApp'],
  [`${NAME}/apps/agents`]: ['agentsApp', 'toAgentItems', 'fromAgentItems'],
  [`${NAME}/apps/remote`]: ['remoteApp', 'pulledApp', 'serveApp', 'appHandler', 'pullWork', 'workPlugin'],
  [`${NAME}/apps/langgraph`]: ['langGraphApp', 'toLangGraphMessages', 'fromLangGraphMessages'],
  [`${NAME}/plugins/mcp`]: ['mcpServerPlugin'],
  [`${NAME}/plugins/chat-completions`]: ['chatCompletionsPlugin'],
  [`${NAME}/plugins/responses`]: ['responsesPlugin'],
  [`${NAME}/plugins/a2a`]: ['a2aPlugin'],
  [`${NAME}/plugins/sessions-api`]: ['sessionsApiPlugin'],
  [`${NAME}/plugins/ui-message-stream`]: ['uiMessageStreamPlugin'],
  [`${NAME}/plugins/ag-ui`]: ['agUiPlugin'],
  [`${NAME}/plugins/langgraph`]: ['langGraphPlugin'],
  [`${NAME}/plugins/metrics`]: ['metricsPlugin'],
  [`${NAME}/plugins/playground`]: ['playgroundPlugin'],
};

/** Entries that are of no use without an optional peer and import it at once. */
export const NEEDS: Record<string, string> = {
  [`${NAME}/nest`]: '@nestjs/common',
  [`${NAME}/client/react`]: 'react',
  [`${NAME}/client/vue`]: 'vue',
  [`${NAME}/client/svelte`]: 'svelte',
  [`${NAME}/testing/stores`]: 'chai',
};

/** A program of a user, with methods that its client knows the types of. */
export const CONSUMER = `
import { createServer } from 'node:http';
import { createGateway, defineApp, gatewayMiddleware, type GatewayConfig, method, type Turn } from '${NAME}';
import { createClient, type Client } from '${NAME}/client';
import { type GatewayEvent, reduce, initialState } from '${NAME}/protocol';
import { z } from 'zod';

const app = defineApp({ async *run(turn: Turn) { yield turn.text; } });
const methods = { tasks: { archive: method({ schema: z.object({ before: z.iso.date() }), handler: async () => ({ n: 1 }) }) } };
export const gateway = createGateway({ app, methods });
export const router = gatewayMiddleware({ app, methods });
createServer((request, response) => gateway.handleRequest(request, response));
const client: Client<typeof router> = createClient<typeof router>({ baseUrl: '/agent' });
const { n } = await client.invoke('tasks:archive', { before: '2026-01-01' });
export const doubled: number = n * 2;
// @ts-expect-error: no such path
await client.invoke('tasks:nothing');
// @ts-expect-error: before is a text
await client.invoke('tasks:archive', { before: 1 });
export const fold = (events: GatewayEvent[]) => events.reduce(reduce, initialState);
export const config: GatewayConfig = { app };
`;

/** A page that follows a session. @param client What it has its client from */
export const pageOf = (
  client: string,
): string => `import { createClient, type GatewayEvent } from '${client}';
export const seen: GatewayEvent[] = [];
for await (const event of createClient({ baseUrl: '/agent' }).events('main')) seen.push(event);`;
