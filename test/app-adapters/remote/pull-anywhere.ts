import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import {
  type PullOptions,
  pulledApp,
  pullWork,
  type ServedApp,
  workPlugin,
} from '../../../server/app-adapters/remote/index.js';
import { signatureOf } from '../../../server/runtime/signature.js';
import { textOf } from '../../../shared/messages.js';
import type { Node, Place } from '../../cluster/place.js';
import { gate } from '../../support/gate.js';
import { startOn } from '../../support/nodes.js';
import { closeLater } from '../../support/resources.js';
import { until } from '../../support/until.js';
import { SECRET } from './killed-secret.js';

const signed = () => {
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = signatureOf({ id: 'x', timestamp, body: '' }, SECRET);
  return { 'webhook-id': 'x', 'webhook-timestamp': `${timestamp}`, 'webhook-signature': signature };
};

const pullAt = ({ url }: Node, app: ServedApp, options: Partial<PullOptions> = {}) =>
  closeLater(pullWork(app, { url: `${url}/work`, name: 'gpu', secret: SECRET, ...options }), (it) =>
    it.close(),
  );

/** Says half of an answer and stays there. */
function stuck() {
  const begun = gate();
  const app: ServedApp = {
    async *run() {
      yield 'Half ';
      begun.open();
      await new Promise(() => {});
    },
  };
  return { app, begun: begun.passed };
}

const whole: ServedApp = {
  async *run() {
    yield 'Half ';
    yield 'and half';
  },
};

interface StartOptions {
  readonly drainMs?: number;
  readonly silenceMs?: number;
}

/** What is true of pulled work wherever it is asked for. @param makePlace A store of several gateways, before each test */
export function describePulled(makePlace: () => Promise<Pick<Place, 'node' | 'holder'>>): void {
  let place: Pick<Place, 'node' | 'holder'>;

  beforeEach(async () => {
    place = await makePlace();
  });

  async function start({ drainMs = 200, ...options }: StartOptions = {}): Promise<Node> {
    const gpu = pulledApp({ secret: SECRET, name: 'gpu', ...options });
    const node = await startOn(await place.node(), { app: gpu, limits: { storeMs: 10_000, drainMs } });
    node.gateway.use(workPlugin({ gpu }));
    return node;
  }
  const startThree = async (): Promise<readonly [Node, Node, Node]> => [
    await start(),
    await start(),
    await start(),
  ];
  /** Another gateway holds the session `main`. */
  const taken = async (): Promise<void> => {
    const before = await place.holder();
    return until(async () => !['', before].includes(await place.holder()));
  };
  const take = async ({ url }: Node): Promise<{ readonly id: string; readonly attempt: number }> => {
    const response = await fetch(`${url}/work?app=gpu`, { headers: signed() });
    expect(response.status).to.equal(200);
    return (await response.json()) as { readonly id: string; readonly attempt: number };
  };
  const reply = ({ url }: Node, id: string, body: string | ReadableStream): Promise<Response> =>
    fetch(`${url}/work/${id}?app=gpu`, {
      ...{ method: 'POST', headers: signed(), body, duplex: 'half' },
    } as RequestInit);

  for (const isFirst of [true, false])
    it(`is made once, wherever its session is held, by whoever asks one gateway ${isFirst ? 'before' : 'after'} it is there`, async () => {
      const nodes = await startThree();
      const done: string[] = [];
      const app: ServedApp = {
        async *run(turn) {
          yield `${await turn.step('one', () => done.push(turn.text))} `;
          yield String(await turn.ask({ name: 'day' }));
        },
      };
      const errors: unknown[] = [];
      const onError = (error: unknown): void => void errors.push(error);
      const pull = (): void => {
        pullAt(nodes[0], app, { atOnce: 2, onError });
        pullAt(nodes[2], app, { atOnce: 1, onError });
      };
      if (isFirst) pull();
      const names = Array.from({ length: 9 }, (_, n) => `s${n}`);
      const runs = names.map((name, n) => nodes[n % 3]!.client.send(name, name));
      await Promise.all(runs.map(({ accepted }) => accepted));
      if (!isFirst) pull();
      const texts = runs.map(async (run, n) => {
        for await (const event of run)
          if (event.type === 'input_required')
            await nodes[(n + 1) % 3]!.client.session(event.sessionId).respond(event.callId, {
              output: 'Monday',
            });
        return textOf((await run.result).message);
      });
      for (const text of await Promise.all(texts)) expect(text).to.match(/^\d Monday$/);
      expect(done.sort()).to.deep.equal(names);
      expect(errors).to.deep.equal([]);
    });

  it('takes the reply at any gateway, tells that one of a fault and of a slice that is over, and heeds no second reply', async () => {
    const [first, second, third] = await startThree();
    const run = second.client.send('main', 'Go');
    await run.accepted;
    const { id } = await take(first);
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const writer = body.writable.getWriter();
    const encoder = new TextEncoder();
    const answered = reply(third, id, body.readable);
    await writer.write(encoder.encode('{"type":"text","delta":"Grüß '.slice(0, -1)));
    // A piece may end within a character, or anywhere else.
    const rest = encoder.encode(' Gott"}\n');
    await writer.write(rest.slice(0, 3));
    await writer.write(rest.slice(3));
    for await (const piece of run.text) {
      expect(piece).to.equal('Grüß Gott');
      break;
    }
    for (const node of [third, first, second])
      expect((await reply(node, id, '{"type":"end"}\n')).status).to.equal(404);
    await writer.write(encoder.encode('{"type":"shout"}\n'));
    const refused = await answered;
    expect(refused.status).to.equal(400);
    expect(await refused.json()).to.have.nested.property('error.code', 'APP_REPLY_INVALID');
    expect((await run.result).error?.message).to.match(/^Line 2 .* type:/);
    await writer.close().catch(() => {});
    expect((await reply(third, `${id.split('.')[0]}.bm9ib2R5`, '{"type":"end"}\n')).status).to.equal(404);
  });

  it('goes on elsewhere when the gateway dies that holds its session, and its process hears of that', async () => {
    const [first, second, third] = await startThree();
    const run = second.client.send('main', 'Go');
    await run.accepted;
    const { id } = await take(first);
    const body = new TransformStream<Uint8Array, Uint8Array>();
    const answered = reply(third, id, body.readable);
    await body.writable.getWriter().write(new TextEncoder().encode('{"type":"text","delta":"Half "}\n'));
    await run.text[Symbol.asyncIterator]().next();
    const { runId } = await run.accepted;
    const moved = taken();
    second.node.kill();
    expect((await answered).status).to.equal(404);
    await moved;
    pullAt(first, whole);
    const { message } = await first.client.session('main').run(runId).result;
    expect(textOf(message)).to.equal('Half and half');
  });

  it('waits for a process, wherever it is held meanwhile', async () => {
    const [first, second] = await startThree();
    const { runId } = await second.client.send('main', 'Go').accepted;
    const moved = taken();
    second.node.kill();
    await moved;
    pullAt(first, whole);
    const { message } = await first.client.session('main').run(runId).result;
    expect(textOf(message)).to.equal('Half and half');
  });

  for (const what of ['its own leaves', 'the gateway dies that this one asked'])
    it(`goes to another process when ${what}`, async () => {
      const [first, second, third] = await startThree();
      const run = second.client.send('main', 'Go');
      const { app, begun } = stuck();
      const worker = pullAt(first, app, { atOnce: 1 });
      await begun;
      await run.text[Symbol.asyncIterator]().next();
      if (what === 'its own leaves') await worker.close();
      else first.node.kill();
      pullAt(third, whole, { atOnce: 1 });
      expect(textOf((await run.result).message)).to.equal('Half and half');
    });

  for (const where of ['the gateway that holds it', 'another one'])
    it(`is over when its process falls silent, and not while it speaks, at ${where}`, async () => {
      const second = await start({ silenceMs: 400 });
      const asked = where === 'another one' ? await start() : second;
      let slices = 0;
      const slow: ServedApp = {
        async *run() {
          slices += 1;
          for (let n = 0; n < 5; n++) {
            yield `${n} `;
            await delay(120);
          }
        },
      };
      const { app, begun } = stuck();
      let isFirst = true;
      const each: ServedApp = {
        run(turn) {
          if (turn.text === 'slow') return slow.run(turn);
          const made = isFirst ? app : whole;
          isFirst = false;
          return made.run(turn);
        },
      };
      pullAt(asked, each, { atOnce: 2 });
      expect(textOf((await second.client.send('slow', 'slow').result).message)).to.equal('0 1 2 3 4 ');
      expect(slices).to.equal(1);
      const run = second.client.send('main', 'Go');
      await begun;
      expect(textOf((await run.result).message)).to.equal('Half and half');
    });

  it('is taken from a gateway that drains, which waits for that', async () => {
    const first = await start();
    const second = await start({ drainMs: 20_000 });
    const { runId } = await second.client.send('main', 'Go').accepted;
    const closed = second.gateway.close();
    pullAt(first, whole);
    await closed;
    const { message } = await first.client.session('main').run(runId).result;
    expect(textOf(message)).to.equal('Half and half');
  });

  it('is answered elsewhere for a gateway that drains, which sends its own askers away at once', async () => {
    const first = await start();
    const second = await start({ drainMs: 20_000 });
    const { runId } = await second.client.send('main', 'Go').accepted;
    const { id } = await take(second);
    const came = gate<unknown>();
    subscribe('http.server.request.start', came.open);
    closeLater(came, ({ open }) => void unsubscribe('http.server.request.start', open));
    const waiting = fetch(`${second.url}/work?app=gpu&waitMs=60000`, { headers: signed() });
    await came.passed;
    // As many turns as it takes to wait.
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    const closed = second.gateway.close();
    expect((await waiting).status).to.equal(503);
    const lines = '{"type":"text","delta":"Done"}\n{"type":"end"}\n';
    expect((await reply(first, id, lines)).status).to.equal(200);
    await closed;
    expect(textOf((await first.client.session('main').run(runId).result).message)).to.equal('Done');
  });
}
