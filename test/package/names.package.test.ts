import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { buildPackage } from '../support/built-package.js';
import { compile } from '../support/compile.js';
import { ROOT } from '../support/program.js';
import { type PublicName, publicNames } from './public-names.js';

const PACKAGE = 'agent-session-gateway';

/** What a program begins with; each shows how. */
const MAIN: Readonly<Record<string, readonly string[]>> = {
  '.': [
    'createGateway',
    'gatewayMiddleware',
    'defineApp',
    'tool',
    'toolResult',
    'method',
    'getContext',
    'memoryStore',
    'createInProcessTransport',
    'parseSessionKey',
  ],
  './client': ['createClient', 'sseTransport', 'webSocketTransport', 'reduce'],
  './recording': ['recording', 'modelFetch', 'exportDataset'],
  './testing': ['testGateway', 'testGateways', 'scripted', 'scriptedModel'],
  './testing/stores': ['describeStore'],
  './client/ai-sdk': ['gatewayChat'],
  './client/tanstack': ['gatewayConnection'],
  './client/files': ['createFiles'],
  './client/history': ['appendMessages', 'exportSession'],
  './client/people': [
    'sessionControl',
    'sessionPresence',
    'sessionReactions',
    'sessionRetraction',
    'sessionSharing',
  ],
  './client/runs': ['childrenOf', 'runTree', 'sessionRuns'],
  './client/budgets': ['clientUsage', 'usageCsv'],
  './client/schedules': ['sessionSchedules'],
  './client/search': ['clientSearch'],
  './client/inbox': ['clientInbox', 'readWhileVisible'],
  './client/push': ['clientPush'],
  './notices': ['verifyWebhook', 'webPush'],
  './client/offline': ['indexedDb', 'storage'],
  './client/node': ['createUnixSocketClientTransport'],
  './client/react': ['GatewayProvider', 'useSession', 'gatewayHooks'],
  './client/vue': ['useSession'],
  './client/svelte': ['liveSession'],
  './stores/postgres': ['postgresStore'],
  './stores/redis': ['redisStore'],
  './stores/sqlite': ['sqliteStore'],
  './diagnostics': ['channels'],
  './telemetry': ['telemetryPlugin'],
  './plugins/mcp': ['mcpServerPlugin'],
  './plugins/metrics': ['metricsPlugin'],
  './plugins/chat-completions': ['chatCompletionsPlugin'],
  './plugins/responses': ['responsesPlugin'],
  './plugins/a2a': ['a2aPlugin'],
  './plugins/sessions-api': ['sessionsApiPlugin'],
  './plugins/ui-message-stream': ['uiMessageStreamPlugin'],
  './plugins/ag-ui': ['agUiPlugin'],
  './plugins/langgraph': ['langGraphPlugin'],
  './apps/acp': ['acpApp'],
  './apps/claude-agent': ['claudeAgentApp'],
  './apps/anthropic': ['anthropicApp'],
  './apps/openai': ['openaiApp'],
  './apps/ai-sdk': ['aiSdkApp'],
  './apps/langgraph': ['langGraphApp'],
  './apps/remote': ['remoteApp'],
  './apps/a2a': ['a2aApp'],
  './apps/ag-ui': ['agUiApp'],
  './apps/agents': ['agentsApp'],
  './nest': ['GatewayModule'],
};

/** Names that examples use without declaring them, so that they can be short. */
const AMBIENT = `
declare const app: import('${PACKAGE}').Application;
declare const gateway: import('${PACKAGE}').Gateway<any, any, any>;
declare const client: import('${PACKAGE}/client').Client;
declare const auth: { token(): string };
declare const db: any;
declare const model: any;
declare const weather: any;
declare const lookup: any;
declare const graph: any;
declare const agent: any;
`;

describe('public names', () => {
  let names: readonly PublicName[];

  before(async () => {
    await buildPackage();
    names = publicNames();
  });

  it('each say what they are', () => {
    expect(names.length).to.be.above(200);
    expect(
      names.filter(({ text }) => text.trim() === '').map(({ entry, name }) => `${entry} ${name}`),
    ).to.deep.equal([]);
  });

  it('show how to begin', () => {
    for (const [entry, main] of Object.entries(MAIN)) {
      for (const name of main) {
        const found = names.find((one) => one.entry === entry && one.name === name);
        expect(found?.examples.length, `${entry} ${name}`).to.be.above(0);
      }
    }
  });

  it('have examples that compile', async () => {
    const folder = join(ROOT, '.cache/examples');
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const seen = new Set<string>();
    for (const { entry, name, examples } of names) {
      for (const example of examples) {
        const code = /^```ts\n([\s\S]*?)\n```$/.exec(example.trim())?.[1];
        expect(code, `${entry} ${name}: an example is a block of TypeScript`).to.be.a('string');
        if (seen.has(code!)) continue;
        seen.add(code!);
        writeFileSync(
          join(folder, `${name}-${seen.size}.ts`),
          `${importsFor(code!, names)}\n${code}\nexport {};\n`,
        );
      }
    }
    writeFileSync(join(folder, 'ambient.d.ts'), AMBIENT);
    const options = { noUnusedLocals: false, noEmit: true };
    const config = { extends: '../../tsconfig.json', compilerOptions: options, include: ['.'], exclude: [] };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    expect(await compile('typescript', folder)).to.equal('');
    expect(seen.size).to.be.at.least(Object.values(MAIN).flat().length);
  });
});

/** Imports of the names that an example uses: ours, and the packages that our users have. */
function importsFor(code: string, names: readonly PublicName[]): string {
  const uses = (name: string): boolean => new RegExp(`(?<![.\\w])${name}\\b`).test(code);
  const imported = new Map<string, string>();
  for (const { entry, name } of names)
    if (!imported.has(name) && uses(name)) imported.set(name, PACKAGE + entry.slice(1));
  const own = [...imported].map(([name, from]) => `import { ${name} } from '${from}';`);
  const others = [
    ...(uses('z') ? ["import { z } from 'zod';"] : []),
    ...(uses('createElement') ? ["import { createElement } from 'react';"] : []),
    ...(uses('express') ? ["import express from 'express';"] : []),
  ];
  return [...own, ...others].join('\n');
}
