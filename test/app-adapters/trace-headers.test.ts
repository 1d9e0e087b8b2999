import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { context, propagation } from '@opentelemetry/api';
import { ToolLoopAgent } from 'ai';
import { expect } from 'chai';
import { agentsApp } from '../../server/app-adapters/agents/index.js';
import { aiSdkApp } from '../../server/app-adapters/ai-sdk/index.js';
import { anthropicApp } from '../../server/app-adapters/anthropic/index.js';
import { langGraphApp } from '../../server/app-adapters/langgraph/index.js';
import { openaiApp } from '../../server/app-adapters/openai/index.js';
import type { Application, Turn } from '../../server/index.js';
import { ChatEndpoint } from '../support/chat-endpoint.js';
import { post, startGateway } from '../support/gateway.js';
import { openUnixSocket, openWebSocket } from '../support/raw-socket.js';
import { closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';
import { agent, runner } from './agents/agents.js';
import { agentGraph } from './langgraph/graphs.js';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

const model = (endpoint: ChatEndpoint) =>
  createOpenAICompatible({ name: 'tiny', baseURL: endpoint.url })('tiny');

const ADAPTERS: Readonly<Record<string, (endpoint: ChatEndpoint) => Application>> = {
  openaiApp: ({ url }) => openaiApp({ baseURL: url, model: 'tiny' }) as Application,
  anthropicApp: ({ origin }) => anthropicApp({ baseURL: origin, model: 'tiny' }) as Application,
  'aiSdkApp with settings': (endpoint) => aiSdkApp({ model: model(endpoint) }) as Application,
  'aiSdkApp with an agent': (endpoint) =>
    aiSdkApp(new ToolLoopAgent({ model: model(endpoint) })) as Application,
  'aiSdkApp with a function': (endpoint) =>
    aiSdkApp(async (turn, messages) => {
      const { streamText } = await import('ai');
      return streamText({ model: model(endpoint), messages, headers: { traceparent: turn.traceparent } });
    }) as Application,
  agentsApp: (endpoint) => agentsApp({ agent: agent(endpoint), runner }) as Application,
  langGraphApp: (endpoint) => langGraphApp({ graph: agentGraph(endpoint).compile() }) as Application,
};

describe('the traceparent of a send', () => {
  for (const [name, make] of Object.entries(ADAPTERS)) {
    it(`is what ${name} asks its model with, and nothing where there was none`, async () => {
      const endpoint = await ChatEndpoint.start();
      const { url } = await startGateway({ app: make(endpoint) });
      const asked = async (headers: Record<string, string>) => {
        const sent = post(`${url}/send`, { sessionId: 'main', message: 'hi' }, headers);
        const request = await endpoint.next();
        request.say('hello');
        expect((await sent).body.stopReason).to.equal('end');
        return request.headers.traceparent;
      };
      expect(await asked({ traceparent })).to.equal(traceparent);
      expect(await asked({})).to.equal(undefined);
      expect(await asked({ traceparent: 'nonsense' })).to.equal(undefined);
    });
  }

  it('is carried by the requests of a framework that have none of their own, and by no others', async () => {
    const endpoint = await ChatEndpoint.start();
    const own = traceparent.replace('0af', '0bf').replace('4bf', '5bf');
    const ask = (headers: Record<string, string> = {}) =>
      fetch(`${endpoint.url}/chat/completions`, { method: 'POST', body: '{}', headers });
    const graph = {
      async stream() {
        await Promise.all([ask(), ask({ Traceparent: own })]);
        return (async function* () {})();
      },
    };
    const { url } = await startGateway({ app: langGraphApp({ graph }) as Application });
    const sent = post(`${url}/send`, { sessionId: 'main', message: 'hi' }, { traceparent });
    const requests = [await endpoint.next(), await endpoint.next()];
    const outside = ask();
    requests.push(await endpoint.next());
    for (const request of requests) request.say('hello');
    await Promise.all([sent, outside]);
    expect(requests.map(({ headers }) => headers.traceparent)).to.have.members([traceparent, own, undefined]);
  });

  for (const name of ['openaiApp', 'langGraphApp']) {
    it(`is that of a frame over a socket, where it has one, with ${name}`, async () => {
      const endpoint = await ChatEndpoint.start();
      const socketPath = `${socketDirectory()}/g.sock`;
      const { url } = await startGateway({ app: ADAPTERS[name]!(endpoint), socketPath });
      for (const socket of [await openWebSocket(url), await openUnixSocket(socketPath)]) {
        await socket.connect();
        for (const [given, expected] of [
          [traceparent, traceparent],
          [undefined, undefined],
          ['nonsense', undefined],
        ]) {
          const params = { sessionId: 'main', message: 'hi' };
          socket.say({ type: 'req', id: 'a', method: 'send', params, ...(given && { traceparent: given }) });
          const request = await endpoint.next();
          expect(request.headers.traceparent).to.equal(expected);
          request.say('hello');
          await socket.until((frame) => frame.type === 'res' && frame.id === 'a');
          socket.frames.length = 0;
        }
      }
    });
  }

  it('is left to OpenTelemetry where that propagates: two headers are as good as none', async () => {
    const endpoint = await ChatEndpoint.start();
    const { url } = await startGateway({ app: ADAPTERS.openaiApp!(endpoint) });
    propagation.setGlobalPropagator({ inject: () => {}, extract: () => context.active(), fields: () => [] });
    closeLater(propagation, (it) => it.disable());
    const sent = post(`${url}/send`, { sessionId: 'main', message: 'hi' }, { traceparent });
    const request = await endpoint.next();
    request.say('hello');
    await sent;
    expect(request.headers.traceparent).to.equal(undefined);
  });

  it('is told to an app, also of one that was queued', async () => {
    const told: (string | undefined)[] = [];
    const app: Application = {
      async *run({ traceparent }: Turn) {
        told.push(traceparent);
        yield 'x';
      },
    };
    const { url } = await startGateway({ app });
    const send = (message: string) => post(`${url}/send`, { sessionId: 'main', message }, { traceparent });
    await Promise.all([send('a'), send('b')]);
    expect(told).to.deep.equal([traceparent, traceparent]);
  });
});
