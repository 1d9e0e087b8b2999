import { AIMessage } from '@langchain/core/messages';
import { interrupt, MemorySaver, MessagesAnnotation, StateGraph } from '@langchain/langgraph';
import { tool as agentTool } from '@openai/agents';
import { tool as aiTool } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import { agentsApp } from '../../server/app-adapters/agents/index.js';
import { aiSdkApp } from '../../server/app-adapters/ai-sdk/index.js';
import { anthropicApp, type ModelAppOptions } from '../../server/app-adapters/anthropic/index.js';
import { langGraphApp } from '../../server/app-adapters/langgraph/index.js';
import { openaiApp } from '../../server/app-adapters/openai/index.js';
import { type Application, createGateway, tool } from '../../server/index.js';
import { isGatewayError } from '../../shared/errors.js';
import { textOf } from '../../shared/messages.js';
import { agent, runner } from '../app-adapters/agents/agents.js';
import { calls, ends, says, scriptedModel } from '../app-adapters/ai-sdk/scripted-model.js';
import { ChatEndpoint } from '../support/chat-endpoint.js';
import { connectClient } from '../support/client.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { until } from '../support/until.js';

/** Versions of one app of an SDK, whose model erases a file after a person's approval, and says so. */
interface Versions {
  /** @param name Of its tool, or of what else a run depends on */
  app(version: string, name?: string): Application | Promise<Application>;
  /** Has the model ask for the approval, and later say that it is done. */
  calls(): Promise<void>;
  says(): Promise<void>;
  readonly erased: string[];
}

const versionsOf = (version: string) => ({ version, accepts: '*' as const });

/** An app that asks a model, which calls a tool of the gateway. */
async function asking(
  make: (endpoint: ChatEndpoint, options: ModelAppOptions) => Application,
): Promise<Versions> {
  const erased: string[] = [];
  const endpoint = await ChatEndpoint.start();
  const erase = tool({
    schema: z.object({ path: z.string() }),
    confirm: true,
    handler: ({ path }) => erased.push(path) && 'erased',
  });
  return {
    app: (version, name = 'erase') =>
      make(endpoint, { model: 'tiny', resumable: true, ...versionsOf(version), tools: { [name]: erase } }),
    erased,
    calls: async () =>
      void (await endpoint.next(1)).text('Well. ').call('c1', 'erase', { path: 'a' }).finish('tool_calls'),
    says: async () => void (await endpoint.next(2)).text('Done.').finish(),
  };
}

const SDKS: Readonly<Record<string, () => Promise<Versions>>> = {
  async 'the AI SDK'() {
    const erased: string[] = [];
    const app = (version: string, name = 'erase') =>
      aiSdkApp(
        {
          model:
            version === '1'
              ? scriptedModel([...says('Well. '), calls('erase', { path: 'a' }), ends('tool-calls')])
              : scriptedModel([...says('Done.'), ends()]),
          tools: {
            [name]: aiTool({
              inputSchema: z.object({ path: z.string() }),
              needsApproval: true,
              execute: ({ path }) => erased.push(path) && 'erased',
            }),
          },
        },
        { resumable: true, ...versionsOf(version) },
      );
    return { app, erased, calls: async () => {}, says: async () => {} };
  },
  async 'the OpenAI Agents SDK'() {
    const erased: string[] = [];
    const endpoint = await ChatEndpoint.start();
    const app = (version: string, name = 'erase') => {
      const erase = agentTool({
        name,
        description: 'Erases a file',
        parameters: z.object({ path: z.string() }),
        needsApproval: true,
        execute: async ({ path }) => erased.push(path) && 'erased',
      });
      return agentsApp({ agent: agent(endpoint, { tools: [erase] }), runner, ...versionsOf(version) });
    };
    return {
      ...{ app, erased },
      calls: async () =>
        void (await endpoint.next(1)).text('Well. ').call('c1', 'erase', { path: 'a' }).finish('tool_calls'),
      says: async () => void (await endpoint.next(2)).text('Done.').finish(),
    };
  },
  async LangGraph() {
    const erased: string[] = [];
    const checkpointer = new MemorySaver();
    const app = (version: string, name = 'erase') => {
      const graph = new StateGraph(MessagesAnnotation)
        .addNode('begin', () => ({ messages: [new AIMessage('Well. ')] }))
        .addNode(name, () => {
          interrupt({ type: 'confirmation', name: 'erase', input: { path: 'a' } });
          erased.push('a');
          return { messages: [new AIMessage('Done.')] };
        })
        .addEdge('__start__', 'begin')
        .addEdge('begin', name)
        .compile({ checkpointer });
      return langGraphApp({ graph, resumable: true, ...versionsOf(version) });
    };
    return { app, erased, calls: async () => {}, says: async () => {} };
  },
  'an endpoint of chat completions': () =>
    asking(({ url: baseURL }, tools) => openaiApp({ ...tools, baseURL })),
  Anthropic: () => asking(({ origin: baseURL }, tools) => anthropicApp({ ...tools, baseURL })),
};

for (const [name, make] of Object.entries(SDKS))
  describe(`an approval that waits over a deploy, with ${name}`, () => {
    let versions: Versions;
    let path: string;
    let callId: string;

    beforeEach(async () => {
      versions = await make();
      path = newDatabase();
      const first = await startDurable(path, { app: await versions.app('1') });
      const run = connectClient(first.url).send('main', 'Erase');
      await versions.calls();
      for await (const event of run) {
        if (event.type !== 'tool_confirmation_required') continue;
        callId = event.callId;
        break;
      }
      path = crashed(path);
    });

    const verdict = async (app: Application) => {
      const { gateway } = await startDurable(crashed(path), {
        ...{ apps: { none: { run: () => {} } }, defaultApp: 'none' },
      });
      for await (const run of gateway.deploys.unfinished(['default']))
        return createGateway({ app }).deploys.check(JSON.parse(JSON.stringify(run)));
      return null;
    };

    it('is approved at the new version, which goes on with it, and nothing is done twice', async () => {
      const app = await versions.app('2');
      expect(await verdict(await versions.app('2'))).to.deep.equal({ outcome: 'goes on' });
      const second = await startDurable(path, { app });
      const client = connectClient(second.url);
      await client.session('main').approve(callId);
      await versions.says();
      for await (const event of client.events('main', { from: 'earliest' })) {
        if (event.type !== 'message_end') continue;
        expect([event.stopReason, textOf(event.message)]).to.deep.equal(['end', 'Well. Done.']);
        break;
      }
      expect(versions.erased).to.deep.equal(['a']);
    });

    it('is held where the new version has no such call, as the check foresees, and goes on after a roll-back', async () => {
      const app = await versions.app('2', 'wipe');
      expect(await verdict(app)).to.include({ outcome: 'held', reason: 'mismatch' });
      const second = await startDurable(path, { app });
      const client = connectClient(second.url);
      const refused = await client
        .session('main')
        .approve(callId)
        .catch((error: unknown) => error);
      expect(isGatewayError(refused) && refused.code).to.equal('RUN_HELD');
      await until(async () => (await client.session('main').state()).run?.held != null);
      await second.gateway.close();
      const third = await startDurable(path, { app: await versions.app('3') });
      const again = connectClient(third.url);
      await again.session('main').approve(callId);
      await versions.says();
      for await (const event of again.events('main', { from: 'earliest' })) {
        if (event.type !== 'message_end') continue;
        expect([event.stopReason, textOf(event.message)]).to.deep.equal(['end', 'Well. Done.']);
        break;
      }
      expect(versions.erased).to.deep.equal(['a']);
    });
  });
