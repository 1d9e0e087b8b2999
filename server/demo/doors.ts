import { a2aPlugin } from '../plugins/a2a/index.js';
import { agUiPlugin } from '../plugins/ag-ui/index.js';
import { chatCompletionsPlugin } from '../plugins/chat-completions/index.js';
import { langGraphPlugin } from '../plugins/langgraph/index.js';
import { mcpServerPlugin } from '../plugins/mcp/index.js';
import { loadSdk } from '../plugins/mcp/sdk.js';
import type { GatewayPlugin } from '../plugins/plugin.js';
import { responsesPlugin } from '../plugins/responses/index.js';
import { sessionsApiPlugin } from '../plugins/sessions-api/index.js';
import { uiMessageStreamPlugin } from '../plugins/ui-message-stream/index.js';

/** A door for another protocol's clients to the demo's sessions. */
export interface Door {
  /** Name in the banner. */
  readonly name: string;
  readonly path: string;
  /** Instructions for its clients, in the banner. */
  readonly use: string;
  plugin(): GatewayPlugin;
  /** Loads the packages that it needs. Rejects, naming them, if they are not installed. */
  load?(): Promise<unknown>;
}

/** Every door of the demo, in the order of the banner. */
export const DOORS: readonly Door[] = [
  {
    name: 'OpenAI chat completions',
    path: '/v1',
    use: 'base URL of any OpenAI client, model demo, the token as API key',
    plugin: () => chatCompletionsPlugin(),
  },
  {
    name: 'OpenAI Responses',
    path: '/v1',
    use: 'the same base URL, model demo; streams that resume by starting_after',
    plugin: () => responsesPlugin(),
  },
  {
    name: 'AI SDK useChat',
    path: '/api/chat',
    use: 'api of DefaultChatTransport, the token as Bearer',
    plugin: () => uiMessageStreamPlugin(),
  },
  {
    name: 'AG-UI, CopilotKit',
    path: '/ag-ui',
    use: 'runtimeUrl of CopilotKit; url of HttpAgent with /agent/demo behind it, the token as Bearer',
    plugin: () => agUiPlugin(),
  },
  {
    name: 'LangGraph useStream',
    path: '/langgraph',
    use: 'apiUrl of useStream, of the SDK or of Agent Chat UI, assistant demo, the token as Bearer',
    plugin: () => langGraphPlugin(),
  },
  {
    name: 'Sessions API',
    path: '/v1/sessions',
    use: 'baseURL of the Anthropic SDK for beta.sessions, agent demo, the token as apiKey',
    plugin: () => sessionsApiPlugin(),
  },
  {
    name: 'A2A',
    path: '/a2a',
    use: 'the address of the gateway for clients that read /.well-known/agent-card.json, the token as Bearer',
    plugin: () => a2aPlugin(),
  },
  {
    name: 'MCP',
    path: '/mcp',
    use: 'tools for editors and agents over Streamable HTTP, the token as Bearer',
    plugin: () => mcpServerPlugin({ sessionId: 'main' }),
    load: loadSdk,
  },
];

/** The doors whose packages are installed, and the missing packages of the others. */
export async function findDoors(): Promise<{ readonly doors: readonly Door[]; readonly lacks: string[] }> {
  const doors: Door[] = [];
  const lacks: string[] = [];
  for (const door of DOORS) {
    try {
      await door.load?.();
      doors.push(door);
    } catch (error) {
      lacks.push(`${door.name} is not served: ${(error as Error).message}`);
    }
  }
  return { doors, lacks };
}
