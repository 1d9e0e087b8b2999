import { expect } from 'chai';
import type { GatewayEvent } from '../../client/index.js';
import { defineApp } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { behindProxy, isEnd } from '../support/behind-proxy.js';
import { collect, connectClient, failure, reaches, takeUntil } from '../support/client.js';
import { describeDaily } from '../support/daily.js';
import { foreignAnswer } from '../support/fault-proxy.js';
import { gate } from '../support/gate.js';
import { holdTimers } from '../support/held-timers.js';
import { uncaught } from '../support/uncaught.js';
import { until } from '../support/until.js';

const TRANSPORTS = ['sse', 'websocket'] as const;
/** A line is taken for dead after a second: for tests where a busy machine must not look like a dead line. */
const CALM = { heartbeatMs: 400 };

const changes = (watch: { subscribe(listener: () => void): () => void }) =>
  new Promise<void>((resolve) => {
    const stop = watch.subscribe(() => {
      stop();
      resolve();
    });
  });

for (const transport of TRANSPORTS) {
  describeDaily(`a client whose network fails without a word (${transport})`, 3, () => {
    it('makes its calls on a new connection when the old one has fallen silent', async () => {
      const { proxy, client } = await behindProxy(transport);
      await client.apps();
      proxy.hush();
      const run = client.send('main', 'hello');
      expect(textOf((await run.result).message)).to.equal('echo: hello');
      expect((await client.session('main').history()).messages).to.have.length(2);
    });

    for (const deaf of ['both', 'up', 'down'] as const) {
      it(`notices a stream that has lost its way (${deaf}), and misses nothing`, async () => {
        const { proxy, client, url } = await behindProxy(transport);
        const events = client.events('main', { from: 'earliest' });
        await client.send('main', 'one').result;
        proxy.hush(deaf);
        await connectClient(url).send('main', 'two').result;
        const seen: GatewayEvent[] = [];
        for (let ends = 0; ends < 2; ends++) seen.push(...(await takeUntil(events, isEnd)));
        const seqs = seen.map(({ cursor }) => Number(cursor!.split('.')[2]));
        expect(seqs).to.deep.equal(seqs.map((_, at) => at + 1));
      });
    }

    it('is told every conversation that was held while it was cut off, also if it waited for the first', async () => {
      const { proxy, client, url } = await behindProxy(transport);
      const early = client.events('main', { from: 'now' });
      const opened = reaches(client, 'open');
      const waiting = early.next();
      await opened;
      proxy.hush();
      const other = connectClient(url);
      for (const text of ['one', 'two']) {
        await other.send('main', text).result;
        await other.close('main');
      }
      await other.send('main', 'three').result;
      const said: string[] = [];
      const take = (event: GatewayEvent): void => {
        if (event.type === 'content_delta') said.push(event.delta);
        if (event.type === 'gap') said.push(`gap ${event.reason}`);
      };
      take((await waiting).value);
      while (said.at(-1) !== 'three') take((await early.next()).value);
      const [one, two, three] = ['one', 'two', 'three'].map((text) => ['echo: ', text]);
      expect(said).to.deep.equal([...one!, 'gap epoch', ...two!, 'gap epoch', ...three!]);
    });

    it('ends a stream of a method that has fallen silent, and no quiet one', async () => {
      const more = gate();
      const { proxy, client } = await behindProxy(transport, {
        limits: CALM,
        methods: {
          ticks: async function* () {
            yield 1;
            await more.passed;
            yield 2;
            await new Promise(() => {});
          },
        },
      });
      const items = client.stream('ticks');
      expect((await items.next()).value).to.equal(1);
      // Quiet for much longer than silence is borne.
      const next = items.next();
      const beats = client.events('main');
      for (let beat = 0; beat < 3; beat++) await client.send('main', 'x').result;
      await new Promise((resolve) => setTimeout(resolve, 1800));
      more.open();
      expect((await next).value).to.equal(2);
      proxy.hush();
      expect(await failure(items.next())).to.include({ code: 'NETWORK' });
      await beats.return?.();
    });

    it('gives up a stream of a method that is never answered', async () => {
      const { proxy, client } = await behindProxy(transport);
      proxy.deaf = 'both';
      const { opened } = proxy;
      const { clock } = holdTimers();
      const failing = failure(client.stream('any').next());
      while (proxy.opened === opened) await new Promise(setImmediate);
      await clock.tickAsync(10_000);
      expect((await failing).code).to.be.oneOf(['TIMEOUT', 'NETWORK']);
    });

    it('subscribes anew when a subscription is not answered', async () => {
      const { proxy, client, url } = await behindProxy(transport);
      client.events('a');
      await reaches(client, 'open');
      if (transport === 'sse') {
        let swallowed = 0;
        proxy.answer = (line) => (line.includes('/subscribe') && swallowed++ < 1 ? null : undefined);
      } else proxy.hush('up');
      const events = client.events('b', { from: 'earliest' });
      await connectClient(url).send('b', 'x').result;
      expect((await events.next()).value.type).to.equal('message_accepted');
    });

    it('starts where its first answer finds the session, however often it has asked for that', async () => {
      const { proxy, client, url } = await behindProxy(transport);
      await client.apps();
      const asked = gate();
      let swallowed = 0;
      if (transport === 'sse')
        proxy.answer = (line) => {
          if (!line.includes('/events') || swallowed++ > 0) return undefined;
          asked.open();
          return null;
        };
      else {
        proxy.hush('up');
        asked.open();
      }
      const events = client.events('main', { from: 'earliest' });
      const first = events.next();
      await asked.passed;
      const other = connectClient(url);
      await other.send('main', 'one').result;
      await other.close('main');
      await other.send('main', 'two').result;
      const { value } = await first;
      expect(value.type).to.equal('message_accepted');
      expect(value.cursor).to.match(/\.1$/);
      expect(textOf(value.message)).to.equal('two');
    });

    it('lives through answers of somebody else', async () => {
      const { proxy, client } = await behindProxy(transport);
      const watch = client.session('main').watch();
      watch.subscribe(() => {});
      const events = client.events('main', { from: 'earliest' });
      await client.send('main', 'one').result;
      while (watch.getSnapshot().messages.length < 2) await changes(watch);
      let refused = 0;
      proxy.answer = () => {
        refused += 1;
        return foreignAnswer('404 Not Found', '404 page not found');
      };
      proxy.cut();
      await reaches(client, 'reconnecting');
      await until(() => refused >= 3);
      expect(watch.getSnapshot().status).to.equal('ready');
      if (transport === 'sse') expect(client.connection.error?.message).to.include('404');
      proxy.answer = undefined;
      await client.send('main', 'two').result;
      while (watch.getSnapshot().messages.length < 4) await changes(watch);
      for (let ends = 0; ends < 2; ends++) await takeUntil(events, isEnd);
    });

    if (transport === 'sse')
      it('takes no word of a network that answers in the place of the gateway, also with 200 and with JSON', async () => {
        const { proxy, client } = await behindProxy(transport);
        const events = client.events('main', { from: 'earliest' });
        await client.send('main', 'one').result;
        await takeUntil(events, isEnd);
        let sends = 0;
        proxy.answer = (line) => {
          if (!line.includes('/send')) return foreignAnswer('200 OK', '<h1>Welcome</h1>');
          sends += 1;
          if (sends === 1) return foreignAnswer('502 Bad Gateway', '<h1>502</h1>');
          if (sends === 2) return foreignAnswer('200 OK', '<h1>Welcome</h1>');
          return foreignAnswer('200 OK', '{"login":"required"}').replace('text/html', 'application/json');
        };
        proxy.cut();
        const run = client.send('main', 'two');
        await until(() => sends >= 3);
        proxy.answer = undefined;
        expect(await run.accepted).to.have.property('runId');
        expect(textOf((await run.result).message)).to.equal('echo: two');
        await takeUntil(events, isEnd);
        expect((await client.session('main').history()).messages).to.have.length(4);
      });

    it('brings everything over a line that delays', async () => {
      const { proxy, client } = await behindProxy(transport, {}, { timeoutMs: 5000 });
      proxy.delayMs = 100;
      const runs = ['one', 'two'].map((text) => client.send('main', text));
      for (const run of runs) expect((await run.result).stopReason).to.equal('end');
      expect((await collect(runs[1]!.text)).join('')).to.equal('echo: two');
    });

    it('gets a big event over a slow line', async () => {
      const { proxy, client } = await behindProxy(
        transport,
        { app: defineApp({ run: () => 'x'.repeat(600_000) }) },
        { timeoutMs: 10_000 },
      );
      client.events('main');
      await reaches(client, 'open');
      // An event takes about a second, the line is taken for dead after 0.4.
      proxy.rate = 600_000;
      const run = client.send('main', 'go');
      expect(textOf((await run.result).message)).to.have.length(600_000);
    });

    for (const skew of [-3_600_000, 3_600_000]) {
      it(`renews its token in time whatever its clock says (${skew / 60_000} min)`, async () => {
        const good = new Map<string, number>();
        let asked = 0;
        const lifeMs = 2400;
        const token = () => {
          const name = `token-${++asked}`;
          good.set(name, Date.now() + lifeMs);
          return name;
        };
        const validate = (given = '') => {
          const expiresAt = good.get(given) ?? 0;
          return { valid: expiresAt > Date.now(), user: { id: 'u' }, expiresAt };
        };
        const { proxy, client } = await behindProxy(
          transport,
          { auth: { type: 'custom', cookies: false, validate }, limits: CALM },
          { token: ({ refresh }) => (refresh || asked === 0 ? token() : `token-${asked}`) },
        );
        proxy.rewrite = (text) =>
          text.replace(/"(ts|authExpiresAt)":(\d{13})/g, (_, name, at) => `"${name}":${Number(at) + skew}`);
        const events = client.events('main', { from: 'earliest' });
        const ends: string[] = [];
        client.on('state', (state) => ends.push(state));
        await reaches(client, 'open');
        await until(() => asked >= 3);
        await client.send('main', 'still here').result;
        await takeUntil(events, isEnd);
        expect(ends).not.to.include('reconnecting');
        expect(asked).to.be.at.most(5);
      });
    }

    it('is not upset by functions of the page that throw', async () => {
      const errors = uncaught();
      const words = defineApp({
        async *run() {
          for (const word of ['one ', 'two ', 'three ', 'four ']) {
            yield word;
            await new Promise((resolve) => setTimeout(resolve, 5));
          }
        },
      });
      const { client } = await behindProxy(transport, { app: words });
      const bug = () => {
        throw new Error('a bug in the page');
      };
      client.on('state', bug);
      const watch = client.session('main').watch();
      const views: string[] = [];
      watch.subscribe(() => {
        const { run } = watch.getSnapshot();
        if (run) views.push(textOf(run.message));
        bug();
      });
      await reaches(client, 'open');
      const run = client.send('main', 'go');
      expect((await collect(run.text)).join('')).to.equal('one two three four ');
      await run.result;
      for (const view of views) expect('one two three four ').to.include(view);
      expect(textOf(watch.getSnapshot().messages[1]!)).to.equal('one two three four ');
      expect(client.connection.state).to.equal('open');
      expect((await errors()).length).to.be.greaterThan(4);
    });

    it('waits for no token that does not come', async () => {
      const { connect } = await behindProxy(transport);
      let asked = 0;
      const hangs = connect({ timeoutMs: 300, token: () => new Promise(() => asked++) });
      expect(await failure(hangs.invoke('x'))).to.include({ code: 'TIMEOUT' });
      const abort = new AbortController();
      const calls = [hangs.invoke('x', {}, { signal: abort.signal }), hangs.invoke('x')].map(failure);
      abort.abort();
      expect(await calls[0]).to.include({ code: 'ABORTED', name: 'AbortError' });
      hangs.disconnect();
      expect(await calls[1]).to.include({ code: 'ABORTED' });
      hangs.events('main');
      const before = asked;
      await until(() => asked > before);
    });

    it('says what a function for tokens throws', async () => {
      const { connect } = await behindProxy(transport);
      const throws = connect({
        token: () => {
          throw new Error('signed out');
        },
      });
      expect((await failure(throws.invoke('x'))).message).to.include('signed out');
    });

    it('lets the old token go on when a new one is refused', async () => {
      let asked = 0;
      const expiresAt = Date.now() + 4000;
      const validate = (given = '') => ({ valid: given === 't1', user: { id: 'u' }, expiresAt });
      const { client } = await behindProxy(
        transport,
        { auth: { type: 'custom', cookies: false, validate } },
        { token: ({ refresh }) => `t${refresh ? ++asked + 1 : 1}` },
      );
      const events = client.events('main', { from: 'earliest' });
      await reaches(client, 'open');
      await until(() => asked > 0);
      await client.send('main', 'hello').result;
      expect((await events.next()).value.type).to.equal('message_accepted');
      expect(client.connection.state).to.equal('open');
    });

    it('follows an accepted message to its end though the answer was lost and the gateway is away', async () => {
      const held = gate();
      const app = defineApp({
        run: async () => {
          await held.passed;
          return 'done';
        },
      });
      const { proxy, client, gateway } = await behindProxy(transport, { app });
      await client.apps();
      const accepted = new Promise<void>((resolve) => gateway.on('run:started', () => resolve()));
      proxy.hush('down');
      const run = client.send('main', 'x');
      await accepted;
      let refused = 0;
      proxy.answer = () => {
        refused += 1;
        return foreignAnswer('502 Bad Gateway', '');
      };
      proxy.cut();
      // Back-offs grow: for more attempts than a send that surely did not arrive is given.
      const hurry = setInterval(() => client.session('main').watch().getSnapshot().sending[0]?.retry(), 30);
      await until(() => refused >= 10);
      proxy.answer = undefined;
      held.open();
      expect(await run.result).to.include({ stopReason: 'end' });
      clearInterval(hurry);
      expect((await client.session('main').history()).messages).to.have.length(2);
    });

    it('ends no other run with an abort whose answer was lost', async () => {
      const held = gate();
      const app = defineApp({
        run: async ({ signal }): Promise<string> => {
          await Promise.race([
            held.passed,
            new Promise((resolve) => signal.addEventListener('abort', resolve)),
          ]);
          return 'x';
        },
      });
      const { proxy, client, url, gateway } = await behindProxy(transport, { app });
      const direct = connectClient(url);
      const [first, second] = ['one', 'two'].map((text) => direct.send('main', text));
      await first!.accepted;
      await second!.accepted;
      await client.apps();
      const ended = new Promise<void>((resolve) => gateway.on('run:ended', () => resolve()));
      const aborted = client.abort('main', { runId: (await client.status('main')).runId });
      proxy.hush('down');
      await ended;
      await aborted;
      expect((await first!.result).stopReason).to.equal('aborted');
      expect((await client.status('main')).runId).to.equal((await second!.accepted).runId);
      held.open();
      expect((await second!.result).stopReason).to.equal('end');
    });

    it('can stop a run whose message was on its way', async () => {
      const app = defineApp({
        run: ({ signal }) =>
          new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
      });
      const { proxy, client, gateway } = await behindProxy(transport, { app }, { timeoutMs: 1000 });
      let runs = 0;
      const started = new Promise<void>((resolve) => gateway.on('run:started', () => resolve(void runs++)));
      const ended = new Promise<void>((resolve) => gateway.on('run:ended', () => resolve()));
      await client.apps();
      proxy.hush('down');
      const abort = new AbortController();
      const run = client.send('main', 'go', { signal: abort.signal });
      await started;
      abort.abort();
      expect(await failure(run.accepted)).to.include({ code: 'ABORTED' });
      expect(await run.abort()).to.deep.equal({ aborted: true });
      await ended;
      expect(runs).to.equal(1);
    });
  });
}
