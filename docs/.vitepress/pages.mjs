/**
 * Every page of the documentation, once, in the order of the sidebar. The site, llms.txt and the tests read this list;
 * docs/README.md shows the same groups to who reads in the repository or in the package.
 */
export const GROUPS = [
  {
    text: 'Start',
    pages: [
      ['README.md', 'Which page next'],
      ['getting-started.md', 'Getting started'],
      ['concepts.md', 'Concepts in pictures'],
      ['vocabulary.md', 'Words'],
      ['troubleshooting.md', 'Troubleshooting'],
    ],
  },
  {
    text: 'Guides',
    pages: [
      ['guides/react-page.md', 'Build a React page'],
      ['guides/identity-providers.md', 'Log users in with your provider'],
      ['guides/server-rendering.md', 'Render on a server'],
      ['guides/mobile.md', 'Build a mobile app'],
      ['guides/behind-a-proxy.md', 'Run behind a proxy'],
      ['guides/production.md', 'Go to production'],
      ['guides/from-usechat.md', 'Move from a useChat route'],
      ['guides/from-socket-io.md', 'Move from socket.io'],
      ['guides/from-tanstack-ai.md', 'Move from a TanStack AI route'],
      ['guides/from-langgraph-platform.md', 'Move from LangGraph Platform'],
      ['guides/from-ably-ai-transport.md', 'Move from Ably AI Transport'],
      ['guides/from-cloudflare-agents.md', 'Move from Cloudflare Agents'],
      ['guides/from-the-original-gateway.md', 'Move from the original gateway'],
    ],
  },
  {
    text: 'Apps: what answers',
    pages: [
      ['apps.md', 'Apps and tools'],
      ['approvals.md', 'Approvals'],
      ['app-adapters.md', 'OpenAI-compatible endpoints, AI SDK'],
      ['apps-langgraph.md', 'LangGraph'],
      ['apps-agents.md', 'OpenAI Agents SDK'],
      ['files.md', 'Files'],
      ['steps.md', 'Steps that run once'],
      ['time.md', 'Schedules and sleep'],
      ['testing.md', 'Test your app'],
      ['recording.md', 'Record, replay, evaluate'],
    ],
  },
  {
    text: 'Clients: who asks',
    pages: [
      ['client.md', 'Client SDK'],
      ['offline.md', 'Offline and reloads'],
      ['react.md', 'React hooks'],
      ['components.md', 'Components to copy'],
      ['vue.md', 'Vue'],
      ['svelte.md', 'Svelte'],
      ['platforms.md', 'Platforms'],
      ['types.md', 'Types'],
      ['codegen.md', 'Generated clients'],
      ['playground.md', 'Playground'],
      ['cli.md', 'Command line'],
    ],
  },
  {
    text: 'The gateway',
    pages: [
      ['sessions.md', 'Sessions'],
      ['lives.md', 'Delete, export, import'],
      ['methods.md', 'Methods and channels'],
      ['auth.md', 'Authentication'],
      ['hosts.md', 'Hosts: Express, Fastify, Hono, Next.js'],
      ['nest.md', 'NestJS'],
      ['websocket.md', 'WebSocket'],
      ['unix-socket.md', 'Unix socket, in-process'],
      ['plugins.md', 'Plugins'],
    ],
  },
  {
    text: 'Other protocols',
    pages: [
      ['protocols.md', 'What is served of each'],
      ['chat-completions.md', 'OpenAI chat completions'],
      ['responses.md', 'OpenAI Responses'],
      ['front-ends.md', 'Front ends that exist'],
      ['ui-message-stream.md', 'AI SDK useChat'],
      ['ag-ui.md', 'AG-UI and CopilotKit'],
      ['tanstack.md', 'TanStack AI'],
      ['langgraph.md', 'LangGraph useStream and client'],
      ['acp.md', 'Editors, by ACP'],
      ['mcp.md', 'MCP'],
    ],
  },
  {
    text: 'Operation',
    pages: [
      ['deployment.md', 'Deployment'],
      ['choose-a-store.md', 'Choose a store'],
      ['cluster.md', 'Several gateways'],
      ['durability.md', 'Durability'],
      ['observability.md', 'Observability'],
      ['metrics.md', 'Metrics'],
      ['telemetry.md', 'OpenTelemetry'],
      ['data.md', "People's data"],
      ['security.md', 'Security'],
      ['performance.md', 'Performance'],
      ['laboratory.md', 'Laboratory'],
    ],
  },
  {
    text: 'Reference',
    pages: [
      ['configuration.md', 'Configuration'],
      ['errors.md', 'Errors'],
      ['limits.md', 'Limits'],
      ['protocol.md', 'Wire protocol'],
      ['documents.md', 'OpenAPI and AsyncAPI'],
      ['versions.md', 'Versions'],
      ['internals.md', 'Internals'],
    ],
  },
];

export const PAGE_NAMES = GROUPS.flatMap(({ pages }) => pages.map(([path]) => path));
