import { expect } from 'chai';
import { agUiPlugin } from '../../../server/plugins/ag-ui/index.js';
import { langGraphPlugin } from '../../../server/plugins/langgraph/index.js';
import { CuttingProxy } from '../../support/cutting-proxy.js';
import { describeDaily } from '../../support/daily.js';
import { SEED } from '../../support/fuzz.js';
import { FAST, type TestGateway } from '../../support/gateway.js';
import { randomOf } from '../../support/random.js';
import { actor, STORES } from '../actor.js';
import { answerIn, cuttingFetch, tanstack } from '../ag-ui/tanstack-fixtures.js';
import { ByteProxy } from '../byte-proxy.js';
import { startDoor } from '../door.js';
import { answers, brief, PAGES, type Sdk, withLangGraph } from '../langgraph/fixtures.js';

const SCRIPT = `think hello look data ${'wört '.repeat(30)}bye`;
const CUTS = 30;

/** Where the answer's stream is cut, and then the one that the page comes back by: a part of what each may have, from 0 to 1. */
type Places = readonly [number, number] | null;

/** A page whose streams are cut. */
interface Wire {
  /** Says all in a page, and waits for the whole answer. @returns what the page shows, and shows after a reload */
  show(session: string, places: Places): Promise<unknown>;
  cuts(): number;
}

const isWhole = (shown: any): boolean => /bye $/.test(answers(shown)) && !shown.isLoading;

async function langGraph(sdk: Sdk, gateway: TestGateway): Promise<Wire> {
  const { tab: open } = withLangGraph(gateway);
  const bytes = await ByteProxy.start(gateway.url);
  const sockets = await CuttingProxy.start(gateway.url);
  return {
    cuts: () => bytes.cuts + sockets.cut,
    async show(threadId, places) {
      if (places && sdk.wire === 'SSE') bytes.cutAfter = 1 + Math.floor(places[0] * 12_000);
      // Behind the answer to the command, which its client does not repeat.
      else if (places)
        sockets.cuts.push(1500 + Math.floor(places[0] * 12_000), 1 + Math.floor(places[1] * 20_000));
      const at = sdk.wire === 'SSE' ? { url: bytes.url } : { socketUrl: sockets.url };
      const tab = open(sdk, { threadId, ...at });
      await tab.say(SCRIPT);
      await tab.until(isWhole, 'the whole answer');
      expect(tab.shown.error).to.equal(undefined);
      const reloaded = open(sdk, { threadId });
      await reloaded.until(isWhole, 'the answer after a reload');
      const told = [brief(tab.shown), brief(reloaded.shown)];
      await Promise.all([tab, reloaded].map(({ controller }) => controller.dispose()));
      return told;
    },
  };
}

async function tanStack(wire: string, gateway: TestGateway): Promise<Wire> {
  const sockets = await CuttingProxy.start(gateway.url);
  let cuts = 0;
  return {
    cuts: () => cuts + sockets.cut,
    async show(threadId, places) {
      // Behind the upgrade of a WebSocket.
      const least = wire === 'WebSocket' ? [600, 400] : [200, 1];
      const cut = [5000, 2000].map((most, at) => least[at]! + Math.floor((places?.[at] ?? 1) * most));
      const cutting = cuttingFetch(places && wire !== 'WebSocket' ? cut : []);
      if (places && wire === 'WebSocket') sockets.cuts.push(...cut);
      const client = await tanstack({
        ...{ base: `${gateway.url}/ag-ui`, threadId, lines: wire === 'NDJSON', fetchClient: cutting.fetch },
        ...(wire === 'WebSocket' && { socketAt: sockets.url }),
      });
      await client.sendMessage(SCRIPT);
      expect(client.getError()?.message).to.equal(undefined);
      cuts += cutting.cuts();
      client.dispose();
      return answerIn(client.getMessages());
    },
  };
}

const WIRES: readonly (readonly [name: string, start: (gateway: TestGateway) => Promise<Wire>])[] = [
  ...PAGES.map(
    (sdk) =>
      [`LangGraph ${sdk.version}, ${sdk.wire}`, (gateway: TestGateway) => langGraph(sdk, gateway)] as const,
  ),
  ...['SSE', 'NDJSON', 'WebSocket'].map(
    (wire) => [`TanStack AI, ${wire}`, (gateway: TestGateway) => tanStack(wire, gateway)] as const,
  ),
];

describeDaily('a page whose network breaks in mid-answer', 3, () => {
  for (const [store, make] of STORES)
    for (const [name, start] of WIRES)
      it(`shows each byte once, of one run, wherever that was: ${name}, ${store} (seed ${SEED})`, async () => {
        const { app, effects } = actor();
        const gateway = await startDoor(agUiPlugin(), { app, store: make(), limits: FAST });
        gateway.gateway.use(langGraphPlugin());
        const { show, cuts } = await start(gateway);
        const expected = await show('uncut', null);
        const random = randomOf(SEED);
        for (let round = 0; round < CUTS; round++) {
          const places = [random(), random()] as const;
          expect(await show(`cut-${round}`, places), `cut at ${places}`).to.deep.equal(expected);
        }
        expect(cuts()).to.be.above(CUTS / 2);
        expect(effects).to.deep.equal(Array.from({ length: CUTS + 1 }, () => 'look'));
      });
});
