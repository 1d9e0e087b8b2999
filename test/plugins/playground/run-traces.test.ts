import { expect } from 'chai';
import { createClient } from '../../../client/index.js';
import { ModelCall } from '../../../server/diagnostics/model-call.js';
import { createGateway, defineApp, tool } from '../../../server/index.js';
import { type PlaygroundOptions, playgroundPlugin } from '../../../server/plugins/playground/index.js';
import type { RunTrace } from '../../../server/plugins/playground/run-traces.js';
import { TestLogger } from '../../support/gateway.js';
import { closeLater } from '../../support/resources.js';

const app = defineApp({
  tools: {
    track: tool({
      handler: () => {
        throw new Error('The carrier does not answer');
      },
    }),
  },
  async run(turn) {
    await turn.step('load', async () => console.info('loaded %d', 3));
    const call = new ModelCall(turn, { adapter: 'openai', model: 'm-1', settings: {} });
    await call.during(async () => {});
    call.done({ finishReasons: ['stop'], content: [], usage: { inputTokens: 12, outputTokens: 34 } });
    await turn.callTool('track', {} as never).catch(() => {});
    throw new Error('It broke here');
  },
});

const tokens = { 'token-of-ann-of-32-bytes-or-more': 'ann', 'token-of-bob-of-32-bytes-or-more': 'bob' };
const [ANN, BOB] = Object.keys(tokens) as [string, string];

async function serve(options: PlaygroundOptions) {
  const gateway = createGateway({
    app,
    port: 0,
    auth: {
      type: 'custom',
      validate: (token) => {
        const id = tokens[token as keyof typeof tokens];
        return id === undefined ? { valid: false } : { valid: true, user: { id } };
      },
    },
    logger: new TestLogger(),
  }).use(playgroundPlugin(options));
  closeLater(gateway, (it) => it.close());
  const url = (await gateway.start()).url!;
  const client = closeLater(createClient({ baseUrl: url, token: ANN }), (it) => it.disconnect());
  const run = client.send('main', 'go');
  await run.result;
  const { runId } = await run.accepted;
  return {
    gateway,
    traceOf: (token: string, id = runId) => ask(`${url}/playground/_trace?sessionId=main&runId=${id}`, token),
  };
}

const ask = (url: string, token: string) => fetch(url, { headers: { authorization: `Bearer ${token}` } });

describe('what ran in a run', () => {
  let said: unknown[][] = [];
  const { info } = console;
  beforeEach(() => {
    said = [];
    console.info = (...all: unknown[]) => void said.push(all);
  });
  afterEach(() => {
    console.info = info;
  });

  it('is told with its steps, calls of models, stacks and lines, to those who may read the run', async () => {
    const { gateway, traceOf } = await serve({ traces: true });
    const told = await traceOf(ANN);
    expect(told.status).to.equal(200);
    const { parts, errors, lines } = (await told.json()) as RunTrace;
    expect(parts.map(({ kind, name, usage, failed }) => ({ kind, name, usage, failed }))).to.deep.equal([
      { kind: 'step', name: 'load', usage: undefined, failed: false },
      { kind: 'model', name: 'm-1', usage: { inputTokens: 12, outputTokens: 34 }, failed: false },
    ]);
    for (const { at, ms } of parts) expect(ms).to.be.within(0, Date.now() - at + 1);
    expect(lines.map(({ level, text }) => [level, text])).to.deep.equal([['info', 'loaded 3']]);
    expect(errors.map(({ of, stack }) => [of, stack.split('\n')[0]])).to.deep.equal([
      ['track', 'Error: The carrier does not answer'],
      ['the run', 'Error: It broke here'],
    ]);
    for (const { stack } of errors) expect(stack).to.contain('run-traces.test');
    expect(said).to.deep.equal([['loaded %d', 3]]);
    expect((await traceOf(BOB)).status).to.equal(404);
    expect((await traceOf('nobody')).status).to.equal(401);
    expect((await traceOf(ANN, 'run_other')).status).to.equal(404);
    const heard = console.info;
    await gateway.close();
    expect(console.info).not.to.equal(heard);
  });

  it('is told by no gateway that is not for development', async () => {
    const { traceOf } = await serve({});
    expect((await traceOf(ANN)).status).to.equal(404);
  });
});
