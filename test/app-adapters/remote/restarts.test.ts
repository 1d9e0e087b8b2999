import { expect } from 'chai';
import type { Client } from '../../../client/index.js';
import { remoteApp } from '../../../server/app-adapters/remote/index.js';
import { sqliteStore } from '../../../server/stores/sqlite/index.js';
import { textOf } from '../../../shared/messages.js';
import { connectClient } from '../../support/client.js';
import { crashed, newDatabase, startDurable } from '../../support/durable.js';
import { gate } from '../../support/gate.js';
import { startGateway } from '../../support/gateway.js';
import { overriding } from '../../support/overriding.js';
import { ScriptedApp, SECRET } from './scripted-app.js';

const END = { type: 'end' };
const DATA = { type: 'data', id: 'd', name: 'chart', value: 1 };

/** The end of the run of the session. */
async function endOf(client: Client) {
  for await (const event of client.events('main', { from: 'earliest' }))
    if (event.type === 'message_end') return event;
  return null;
}

describe('an app that runs elsewhere, after a restart of the gateway', () => {
  it('is told the steps, sleeps on, gets former answers, and is asked to say nothing twice', async () => {
    const app = await ScriptedApp.start();
    const config = { app: remoteApp({ url: app.url, secret: SECRET }) };
    const path = newDatabase();
    const before = await startDurable(path, config);
    const client = connectClient(before.url);
    client.send('main', 'Go').result.catch(() => {});
    const lines = [
      { type: 'text', delta: 'One ' },
      { type: 'step', n: 1, name: 'order' },
      { type: 'step', n: 1, name: 'order', value: 7 },
      { type: 'data', id: 'd', name: 'chart', value: 1 },
      { type: 'text', delta: 'two ' },
      { type: 'ask', n: 1, name: 'day' },
      { type: 'sleep', n: 2, name: 'nap', until: Date.now() + 3_600_000 },
      { type: 'step', n: 3, name: 'pay' },
    ];
    const asked = await app.next();
    asked.say(...lines);
    const session = client.session('main');
    for await (const { type } of client.events('main', { from: 'earliest' }))
      if (type === 'input_required') break;
    const [question] = (await session.state()).pending;
    await session.respond(question!.callId, { output: 'Monday' });
    asked.end({ type: 'wait' });
    const second = await app.next();
    expect(second.slice.calls).to.deep.equal([{ n: 1, type: 'ask', name: 'day', value: 'Monday' }]);
    second.say(...lines.slice(0, 5), { type: 'text', delta: 'three ' });
    for await (const event of client.events('main', { from: 'earliest' }))
      if (event.type === 'content_delta' && event.delta.includes('three')) break;
    const copy = crashed(path);
    const after = await startDurable(copy, config);
    const third = await app.next();
    expect(third.slice.steps).to.deep.equal([
      { n: 1, type: 'step', name: 'order', value: 7 },
      { n: 2, type: 'sleep', name: 'nap' },
      { n: 3, type: 'step', name: 'pay' },
    ]);
    expect(third.slice).to.deep.include({ attempt: 1, calls: [], said: { text: 14, reasoning: 0 } });
    third.end(...lines.slice(0, 6), { type: 'wait' });
    const fourth = await app.next();
    expect(fourth.slice.calls).to.deep.equal([{ n: 1, type: 'ask', name: 'day', value: 'Monday' }]);
    fourth.end(
      ...lines.slice(0, 1),
      lines[3]!,
      ...[{ type: 'text', delta: 'two three four' }, { type: 'step', n: 3, name: 'pay', value: 1 }, END],
    );
    const again = connectClient(after.url);
    const seen: string[] = [];
    for await (const event of again.events('main', { from: 'earliest' })) {
      seen.push(event.type);
      if (event.type === 'message_end') break;
    }
    const { messages } = await again.session('main').state();
    expect(textOf(messages.at(-1)!)).to.equal('One two three four');
    expect(seen.filter((type) => type === 'data' || type === 'input_required')).to.have.length(2);
    await before.gateway.close();
  });

  it('sleeps on, whenever the gateway was killed', async () => {
    const app = await ScriptedApp.start();
    const config = { app: remoteApp({ url: app.url, secret: SECRET }) };
    const path = newDatabase();
    const inner = sqliteStore({ path });
    const kept = gate();
    const end = gate();
    let isKept = false;
    const append: typeof inner.append = async (log, events, options) => {
      if (isKept) await end.passed;
      // The store has something of the sleep, and nothing that comes later.
      isKept ||= options.steps !== undefined;
      const result = await inner.append(log, events, options);
      if (isKept) kept.open();
      return result;
    };
    const before = await startGateway({ ...config, store: overriding(inner, { append }) });
    connectClient(before.url)
      .send('main', 'Go')
      .result.catch(() => {});
    const sleep = { type: 'sleep', n: 1, name: 'nap', ms: 1 };
    (await app.next()).say(sleep);
    await kept.passed;
    const after = await startDurable(crashed(path), config);
    end.open();
    (await app.next()).end(sleep, { type: 'text', delta: 'Awake' }, END);
    expect(await endOf(connectClient(after.url))).to.include({ stopReason: 'end' });
    await before.gateway.close();
  });

  it('takes back what the former process said, where the app says otherwise', async () => {
    const app = await ScriptedApp.start();
    const config = { app: remoteApp({ url: app.url, secret: SECRET }) };
    const path = newDatabase();
    const before = await startDurable(path, config);
    const client = connectClient(before.url);
    const run = client.send('main', 'Go');
    run.result.catch(() => {});
    const texts = run.text[Symbol.asyncIterator]();
    const asked = await app.next();
    asked.say({ type: 'text', delta: 'It is ' }, { type: 'reasoning', delta: 'Hm.' }, DATA, {
      type: 'text',
      delta: 'raining',
    });
    while (!(await texts.next()).value?.includes('raining'));
    const after = await startDurable(crashed(path), config);
    (await app.next()).end(
      { type: 'text', delta: 'It is ' },
      { type: 'reasoning', delta: 'Hm.' },
      DATA,
      { type: 'text', delta: 'sunny' },
      END,
    );
    expect((await endOf(connectClient(after.url)))!.message.content).to.deep.equal([
      { type: 'text', text: 'It is ' },
      { type: 'reasoning', text: 'Hm.' },
      DATA,
      { type: 'text', text: 'sunny' },
    ]);
    await before.gateway.close();
  });

  for (const [what, name] of [
    ['goes on with a run of a version that it accepts, once it was rehearsed', 'order'],
    ['holds a run with whose steps a new version does not agree', 'buy'],
  ] as const)
    it(what, async () => {
      const app = await ScriptedApp.start();
      const versioned = (version: string, accepts?: readonly string[]) => ({
        app: remoteApp({ url: app.url, secret: SECRET, version, ...(accepts && { accepts }) }),
      });
      const path = newDatabase();
      const before = await startDurable(path, versioned('1'));
      const client = connectClient(before.url);
      client.send('main', 'Go').result.catch(() => {});
      const begun = { type: 'step', n: 1, name: 'order', value: 7 };
      (await app.next()).end(begun, { type: 'ask', n: 1, name: 'day' }, { type: 'wait' });
      for await (const { type } of client.events('main', { from: 'earliest' }))
        if (type === 'input_required') break;
      const after = await startDurable(crashed(path), versioned('2', ['1']));
      const rehearsed = await app.next();
      expect(rehearsed.slice).to.deep.include({ rehearsing: true, version: '2', calls: [] });
      expect(rehearsed.slice.steps).to.deep.equal([{ ...begun, type: 'step' }]);
      const again = connectClient(after.url);
      const session = again.session('main');
      if (name === 'buy') {
        rehearsed.end({ type: 'error', code: 'STEP_MISMATCH', message: 'The step 1 was order' });
        for await (const { type } of again.events('main', { from: 'earliest' }))
          if (type === 'run_held') break;
        return;
      }
      rehearsed.end({ type: 'ask', n: 1, name: 'day' }, { type: 'wait' });
      const asked = await app.next();
      expect(asked.slice.rehearsing).to.equal(undefined);
      asked.end({ type: 'ask', n: 1, name: 'day' }, { type: 'wait' });
      const [question] = (await session.state()).pending;
      await session.respond(question!.callId, { output: 'Monday' });
      const last = await app.next();
      expect(last.slice.calls).to.deep.equal([{ n: 1, type: 'ask', name: 'day', value: 'Monday' }]);
      last.end({ type: 'text', delta: 'Monday' }, END);
      for await (const { type } of again.events('main', { from: 'earliest' }))
        if (type === 'message_end') break;
      expect(textOf((await session.state()).messages.at(-1)!)).to.equal('Monday');
    });
});
