import { expect } from 'chai';
import type { GatewayPlugin } from '../../../server/index.js';
import { agUiPlugin } from '../../../server/plugins/ag-ui/index.js';
import { langGraphPlugin } from '../../../server/plugins/langgraph/index.js';
import { responsesPlugin } from '../../../server/plugins/responses/index.js';
import { uiMessageStreamPlugin } from '../../../server/plugins/ui-message-stream/index.js';
import { collect } from '../../support/client.js';
import { describeDaily } from '../../support/daily.js';
import { FAST, type TestGateway } from '../../support/gateway.js';
import { actor, STORES } from '../actor.js';
import * as agUi from '../ag-ui/fixtures.js';
import { startDoor } from '../door.js';
import { browserFetch, FrameProxy } from '../frame-proxy.js';
import * as langGraph from '../langgraph/fixtures.js';
import * as responses from '../responses/fixtures.js';
import * as ui from '../ui-message-stream/fixtures.js';

/** A client of a door, as it comes, in a conversation whose streams are cut. */
interface Client {
  readonly name: string;
  plugin(): GatewayPlugin;
  /** Tools that the conversation calls. */
  readonly effects: readonly string[];
  /** Has the conversation through `url`, and comes back where it is cut. @returns what of it is the same each time */
  converse(gateway: TestGateway, url: string, session: string): Promise<unknown>;
  /** Whether it takes a stream that is ended too early, cleanly, for a whole one, and has no way to come back. */
  readonly believesEnds?: boolean;
}

const SCRIPT = 'think hello look data where more pay think bye';
const LAST = /^response\.(?:completed|incomplete|failed)$/;
const NAMES = new Set(['id', 'item_id', 'call_id', 'previous_response_id', 'approval_request_id']);

const openAi = (major: responses.Major): Client => ({
  name: `openai ${major.major}`,
  plugin: () => responsesPlugin(),
  effects: ['look', 'pay'],
  async converse(gateway, url, session) {
    const { client } = responses.withResponses(gateway);
    const direct = client(major);
    const cutting = client(major, { baseURL: `${url}/v1` });
    const told: any[] = [];
    const ask = async (more: object): Promise<any> => {
      const headers = { 'Idempotency-Key': `${session}-${told.length}` };
      const body = { model: 'default', tools: [responses.brought('where')], stream: true, ...more } as any;
      const read: any[] = [];
      const reading = async () => {
        for await (const event of (await cutting.responses.create(body, { headers })) as any)
          read.push(responses.plain(event));
      };
      await reading().catch(() => {});
      // A client that was told nothing has no id: the request is sent again, under its key.
      const rest = read[0]
        ? direct.responses.retrieve(read[0].response.id, {
            stream: true,
            starting_after: read.at(-1).sequence_number,
          })
        : direct.responses.create(body, { headers });
      if (!LAST.test(read.at(-1)?.type)) read.push(...responses.plain(await collect((await rest) as any)));
      const again = await direct.responses.retrieve(read[0].response.id, { stream: true });
      expect(responses.plain(await collect(again))).to.deep.equal(read);
      told.push(...read);
      return read.at(-1).response;
    };
    const first = await ask({ input: SCRIPT });
    const { call_id } = first.output.at(-1);
    const output = { type: 'function_call_output', call_id, output: 'here' };
    const second = await ask({ previous_response_id: first.id, input: [output] });
    const { id: approval_request_id } = second.output.at(-1);
    const approval = { type: 'mcp_approval_response', approval_request_id, approve: true };
    await ask({ previous_response_id: second.id, input: [approval] });
    const shown = JSON.stringify(told, (name, value) => {
      if (name === 'created_at' || name === 'completed_at') return 0;
      return NAMES.has(name) && typeof value === 'string' ? value.replace(/_.*/, '') : value;
    });
    return JSON.parse(shown);
  },
});

const useChat = (major: ui.Major): Client => ({
  name: `AI SDK ${major.major}`,
  plugin: () => uiMessageStreamPlugin(),
  // The first major has no approvals.
  effects: major.major > 5 ? ['look', 'pay', 'look', 'look'] : ['look', 'look', 'look'],
  async converse(gateway, url, session) {
    const { chat: open, ask } = ui.withUi(gateway);
    const init = { id: session, url, fetch: browserFetch };
    const told: unknown[] = [];
    let chat = open(major, init);
    /** Reloads, with the list that the page has, whatever it has of the answer, and with the one that the gateway keeps. */
    const step = async (act: () => Promise<unknown>): Promise<void> => {
      await act();
      const { messages: kept } = await (await ask(`/${session}`)).json();
      const reloads = [ui.plain(chat.messages), kept].map((messages) =>
        open(major, { ...init, url: gateway.url, messages }),
      );
      for (const reloaded of reloads) {
        await reloaded.resumeStream();
        expect(reloaded.error).to.equal(undefined);
        told.push(ui.shown(reloaded.messages));
      }
      chat = open(major, { ...init, messages: ui.plain(reloads[0]!.messages) });
    };
    await step(() => chat.sendMessage({ text: `think hello look data${major.major > 5 ? ' pay' : ''} bye` }));
    if (major.major > 5)
      await step(async () => {
        const { approval } = chat.messages.at(-1).parts.find(({ approval }: any) => approval);
        await chat.addToolApprovalResponse({ id: approval.id, approved: true });
        await chat.sendMessage();
      });
    await step(() => chat.sendMessage({ text: 'look on', messageId: chat.messages[0].id }));
    await step(() => chat.regenerate());
    return told;
  },
});

const httpAgent = (client: agUi.AgUiClient): Client => ({
  name: `AG-UI ${client.version}`,
  plugin: () => agUiPlugin(),
  effects: ['look', 'pay'],
  async converse(gateway, url, threadId) {
    const agent = agUi.withAgUi(gateway).agent(client, { threadId, url });
    /** Runs until the end of the client's run was heard: a client that has not heard it asks again for the same. */
    const insist = async (runId: string, parameters: object = {}): Promise<void> => {
      for (let times = 0; times < 3; times++) {
        const heard = agUi.listener();
        await agUi.attempt(agent, { runId, ...parameters }, heard);
        if (heard.events.some(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR')) return;
      }
      throw new Error('the run was not told to its end');
    };
    agent.addMessage(agUi.says('u1', SCRIPT));
    await insist('one');
    const [call] = agent.messages.at(-1).toolCalls;
    agent.addMessage({ id: 't1', role: 'tool', toolCallId: call.id, content: 'here' });
    await insist('two');
    const [{ id: interruptId }] = agent.pendingInterrupts;
    await insist('three', { resume: [{ interruptId, status: 'resolved', payload: { approved: true } }] });
    const ids = agent.messages.map(({ id }) => id);
    expect(new Set(ids).size).to.equal(ids.length);
    return agUi.shown(agent.messages);
  },
});

const classic = (sdk: langGraph.Sdk): Client => ({
  name: `LangGraph ${sdk.version}, classic routes`,
  plugin: () => langGraphPlugin(),
  effects: ['look'],
  believesEnds: true,
  async converse(gateway, url, session) {
    const payload = { input: langGraph.human('a b look c d'), streamMode: ['messages-tuple'] };
    const client = langGraph.withLangGraph(gateway).client(sdk, { url });
    return (await langGraph.heard(client.runs.stream(session, 'default', payload))).text;
  },
});

const CLIENTS: readonly Client[] = [
  ...responses.MAJORS.map(openAi),
  ...ui.MAJORS.map(useChat),
  ...agUi.CLIENTS.map(httpAgent),
  ...langGraph.SDKS.map(classic),
];

describeDaily('a conversation of a door whose streams are cut', 5, () => {
  // Behind each frame it is cut on one store, and ended on the other.
  for (const [number, [store, make]] of STORES.entries())
    for (const { name, plugin, effects: each, converse, believesEnds } of CLIENTS)
      it(`is whole, and runs once, cut or ended behind any frame of any stream: ${name}, ${store}`, async () => {
        const { app, effects } = actor();
        const gateway = await startDoor(plugin(), { app, store: make(), limits: FAST });
        const proxy = await FrameProxy.start(gateway.url);
        const expected = await converse(gateway, proxy.url, 'uncut');
        const streams = [...proxy.frames];
        let cuts = 0;
        for (const [stream, frames] of streams.entries())
          for (let after = believesEnds ? 1 : 0; after < frames; after++) {
            const clean = !believesEnds && (after + number) % 2 === 1;
            const where = `${clean ? 'ended' : 'cut'} after ${after} of ${frames} frames of stream ${stream + 1}`;
            for (let before = 0; before < stream; before++)
              proxy.cuts.push({ after: Number.POSITIVE_INFINITY, clean });
            proxy.cuts.push({ after, clean });
            const told = await converse(gateway, proxy.url, `cut-${++cuts}`);
            expect(told, where).to.deep.equal(expected);
          }
        expect(proxy.ended).to.equal(cuts);
        expect(cuts).to.be.above(7);
        expect(effects).to.deep.equal(Array.from({ length: 1 + cuts }, () => each).flat());
      });
});
