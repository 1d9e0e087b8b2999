import { expect } from 'chai';
import { type DatasetEntry, exportDataset } from '../../server/features/recording/index.js';
import { type Choices, defineApp } from '../../server/index.js';
import { metricsPlugin } from '../../server/plugins/metrics/index.js';
import { VariantLabels } from '../../server/plugins/variant-labels.js';
import { initialState, reduce } from '../../shared/fold.js';
import { textOf } from '../../shared/messages.js';
import { METRICS_TOKEN, MetricsPage } from '../plugins/metrics/page.js';
import { collect, connectClient, failure, takeUntil } from '../support/client.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { byName } from '../support/users.js';

const limits = { sendsPerSecond: Infinity };
const ann = { user: { id: 'ann' } };

/** An app that says its variant. */
const choosing = (choices: Choices<string>, name = 'size') =>
  defineApp({ run: (turn) => ({ text: turn.variant(name, choices), usage: { inputTokens: 5 } }) });

describe('turn.variant', () => {
  it('is the same for all runs of a session, in the log, the state and the answers', async () => {
    const app = choosing(['a', 'b', 'c']);
    const { url } = await startGateway({ app, limits });
    const session = connectClient(url).session('main');
    const said = new Set<string>();
    for (let n = 0; n < 5; n++) said.add(textOf((await session.send('hi').result).message));
    expect(said.size).to.equal(1);
    const [choice] = said;
    const { variants, messages, cursor } = await session.state();
    expect(variants).to.deep.equal({ size: choice });
    for (const { role, variants: of } of messages)
      expect(of).to.deep.equal(role === 'assistant' ? { size: choice } : undefined);
    expect((await session.history()).messages).to.deep.equal(messages);
    const events = await takeUntil(
      connectClient(url).events('main', { from: 'earliest' }),
      (event) => event.cursor === cursor,
    );
    expect(events.filter(({ type }) => type === 'variant')).to.have.length(1);
    expect(events.reduce(reduce, initialState)).to.deep.include({ variants, messages });
  });

  it('is chosen by the key of the session as often as its weight says, and alike at every gateway', async () => {
    const choicesOf = async (choices: Choices<string>) => {
      const { gateway } = await startGateway({ app: choosing(choices), limits });
      const all = Array.from({ length: 60 }, (_, n) => gateway.session(`s${n}`, ann).send('hi').result);
      return (await Promise.all(all)).map(({ message }) => textOf(message));
    };
    const first = await choicesOf({ a: 3, b: 1, c: 0 });
    expect(await choicesOf({ a: 3, b: 1, c: 0 })).to.deep.equal(first);
    // 60 sessions of given keys: the same in each run of this test.
    expect(first.filter((choice) => choice === 'a').length).to.be.within(35, 55);
    expect(first).not.to.include('c');
  });

  it('stays what it was when the weights change, and is made anew when its choice is gone', async () => {
    const path = newDatabase();
    const before = await startDurable(path, { app: choosing({ old: 1, new: 0 }), limits });
    const say = async ({ gateway }: Pick<typeof before, 'gateway'>) =>
      textOf((await gateway.session('main', ann).send('hi').result).message);
    expect(await say(before)).to.equal('old');
    const weighed = await startDurable(crashed(path), { app: choosing({ old: 0, new: 1 }), limits });
    expect(await say(weighed)).to.equal('old');
    const gone = await startDurable(crashed(path), { app: choosing(['new']), limits });
    expect(await say(gone)).to.equal('new');
    expect(await say(gone)).to.equal('new');
    const { messages } = await gone.gateway.session('main', ann).history();
    expect(messages.flatMap(({ variants }) => (variants ? [variants.size] : []))).to.deep.equal([
      'old',
      'new',
      'new',
    ]);
  });

  it('is what it was for a run that goes on in another process, and in its rehearsal', async () => {
    const path = newDatabase();
    const stop = gate();
    const said: string[] = [];
    const app = (version: string, choices: Choices<string>, hold: () => Promise<unknown>) =>
      defineApp({
        ...{ resumable: true, version, ...(version !== '1' && { accepts: '*' as const }) },
        async run(turn) {
          said.push(`${turn.variant('size', choices)}${turn.rehearsing ? ' in rehearsal' : ''}`);
          await turn.step('once', () => 1);
          await hold();
          return 'ok';
        },
      });
    const first = await startDurable(path, {
      app: app('1', { old: 1, new: 0 }, () => {
        stop.open();
        return new Promise(() => {});
      }),
      limits,
    });
    const { runId } = await first.gateway.session('main', ann).send('hi').accepted;
    await stop.passed;
    const second = await startDurable(crashed(path), {
      app: app('2', { old: 0, new: 1 }, async () => {}),
      limits,
    });
    const { message } = await second.gateway.session('main', ann).run(runId).result;
    expect(textOf(message)).to.equal('ok');
    expect(said).to.deep.equal(['old', 'old in rehearsal', 'old']);
  });

  it('is refused with no choices, and beyond the number of names', async () => {
    const failures: string[] = [];
    const app = defineApp({
      async run(turn) {
        const attempts: (() => unknown)[] = [
          () => turn.variant('', ['a']),
          () => turn.variant('size', []),
          () => turn.variant('size', { a: 0 }),
          () => turn.variant('size', { a: -1, b: 1 }),
          () => turn.variant('size', ['x'.repeat(65)]),
          () => ['one', 'two', 'one', 'three'].map((name) => turn.variant(name, ['a'])),
        ];
        for (const attempt of attempts)
          failures.push((await failure((async () => attempt())())).message.replace(/[:(].*/, '').trim());
        return JSON.stringify(failures);
      },
    });
    const { gateway } = await startGateway({ app, limits: { ...limits, variantsPerSession: 2 } });
    await gateway.session('main', ann).send('hi').result;
    expect(failures).to.deep.equal([
      'name',
      'choices',
      'choices',
      'choices.a',
      'choices',
      'A session has at most 2 variants',
    ]);
  });

  it('is hidden by a grant that hides metadata', async () => {
    const { gateway, url } = await startGateway({ app: choosing(['a']), limits, auth: byName });
    const session = gateway.session('main', ann);
    await session.send('hi').result;
    const seenBy = async (hide: readonly 'metadata'[]) => {
      const { grant } = await session.share({ with: { userId: 'ben' }, as: 'viewer', hide });
      const ben = connectClient(url, { token: 'ben' });
      const { variants, messages } = await ben.session(grant.sessionId).state();
      const events = await takeUntil(
        ben.events(grant.sessionId, { from: 'earliest' }),
        ({ type }) => type === 'message_end',
      );
      return [variants, messages.at(-1)!.variants, events.some(({ type }) => type === 'variant')];
    };
    expect(await seenBy([])).to.deep.equal([{ size: 'a' }, { size: 'a' }, true]);
    expect(await seenBy(['metadata'])).to.deep.equal([undefined, undefined, false]);
  });

  it('is in the dataset and the metrics, with labels that are bounded', async () => {
    const { gateway, url } = await startGateway({ app: choosing(['a']), limits });
    gateway.use(metricsPlugin({ token: METRICS_TOKEN }));
    await MetricsPage.scrape(url);
    await gateway.session('main', ann).send('hi').result;
    const lines = await collect(exportDataset(gateway, ann));
    expect((JSON.parse(lines[0]!) as DatasetEntry).variants).to.deep.equal({ size: 'a' });
    const page = await MetricsPage.scrape(url);
    const labels = { app: 'default', variant: 'size', choice: 'a' };
    expect(page.value('agent_gateway_variant_runs_ended_total', { ...labels, stop_reason: 'end' })).to.equal(
      1,
    );
    expect(page.value('agent_gateway_variant_tokens_total', { ...labels, type: 'input' })).to.equal(5);
    const bounded = new VariantLabels();
    const seen = new Set<string>();
    for (let n = 0; n < 1000; n++)
      for (const each of bounded.of('app', { name: `${n}` })) seen.add(JSON.stringify(each));
    expect(seen.size).to.equal(201);
    expect(bounded.of('app', { name: '5' })[0]).to.deep.include({ choice: '5' });
  });
});
