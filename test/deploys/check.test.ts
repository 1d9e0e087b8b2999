import { expect } from 'chai';
import {
  type Application,
  createGateway,
  defineApp,
  type Gateway,
  type RunVerdict,
  tool,
  type UnfinishedRun,
} from '../../server/index.js';
import { connectClient } from '../support/client.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';

type AnyGateway = Gateway<any, any, any, any>;

/** An app that does steps and then asks, or stands still. */
function agent(version: string, more: Partial<Application> & { readonly steps?: readonly string[] } = {}) {
  const { steps = ['a', 'b'], ...about } = more;
  const done: string[] = [];
  const app = defineApp({
    ...{ version, resumable: true, accepts: '*' },
    ...about,
    tools: { look: tool({ handler: () => done.push('look') && 'seen' }) },
    async *run(turn) {
      yield 'Hm. ';
      for (const step of steps) await turn.step(step, () => done.push(step));
      turn.emit('did', {});
      if (turn.text === 'tool') yield String(await turn.callTool('look', {}));
      if (turn.text === 'stand') await new Promise(() => {});
      yield String(await turn.ask({ name: 'sure' }));
    },
  });
  return { app, done };
}

/** The verdicts of a gateway that is to be deployed on the runs of another one, by the session's name. */
async function verdicts(
  of: AnyGateway,
  apps: readonly string[],
  by: AnyGateway,
): Promise<Record<string, RunVerdict>> {
  const found: Record<string, RunVerdict> = {};
  for await (const run of of.deploys.unfinished(apps)) {
    // It goes to another process as a line.
    const line = JSON.parse(JSON.stringify(run)) as UnfinishedRun;
    found[run.sessionId] = await by.deploys.check(line);
  }
  return found;
}

describe('the check of a deploy', () => {
  it('names the runs that would be held and why, with no effect, and takes nothing', async () => {
    const old = agent('1');
    const path = newDatabase();
    const { gateway, url } = await startDurable(path, { app: old.app, limits: { parkMs: 1 } });
    for (const text of ['ask', 'tool', 'stand']) {
      const session = connectClient(url).session(text);
      const last = text === 'stand' ? 'custom' : 'input_required';
      for await (const event of session.send(text)) if (event.type === last) break;
    }
    const check = (app: Application) => verdicts(gateway, ['default'], createGateway({ app }));
    const goesOn = { outcome: 'goes on' };
    const all = (verdict: object) => ({ ask: verdict, tool: verdict, stand: verdict });
    expect(await check(agent('1').app)).to.deep.equal(all(goesOn));
    const good = agent('2');
    expect(await check(good.app)).to.deep.equal(all(goesOn));
    expect(good.done).to.deep.equal([]);
    expect(await check(agent('2', { accepts: [] }).app)).to.deep.equal(
      all({ outcome: 'held', reason: 'version' }),
    );
    const mismatch = { what: 'step', before: 'b', now: 'c' };
    expect(await check(agent('2', { steps: ['a', 'c'] }).app)).to.deep.equal(
      all({ outcome: 'held', reason: 'mismatch', mismatch }),
    );
    // A step more is not noticed where nothing comes behind it.
    expect(await check(agent('2', { steps: ['a', 'b', 'c'] }).app)).to.deep.equal({
      ...all({ outcome: 'held', reason: 'mismatch', mismatch: { what: 'step', before: 'sure', now: 'c' } }),
      stand: goesOn,
    });
    expect(await check(agent('2', { resumable: false }).app)).to.deep.equal(
      all({ outcome: 'lost', reason: 'not resumable' }),
    );
    expect(old.done).to.have.length(7);
    const { app } = agent('3');
    expect(
      await verdicts(gateway, ['other'], createGateway({ apps: { other: app }, defaultApp: 'other' })),
    ).to.deep.equal({});
  });

  it('names exactly those that are held once it is deployed, also parked ones of another process', async () => {
    const path = newDatabase();
    const first = await startDurable(path, { app: agent('1').app, limits: { parkMs: 1 } });
    for (const name of ['one', 'two', 'three'])
      for await (const event of connectClient(first.url)
        .session(name)
        .send(name === 'three' ? 'stand' : 'ask'))
        if (event.type === (name === 'three' ? 'custom' : 'input_required')) break;
    const next = agent('2', { steps: ['a', 'b', 'c'] }).app;
    const { gateway } = await startDurable(crashed(path), {
      apps: { other: { run: () => {} } },
      defaultApp: 'other',
    });
    const foreseen = await verdicts(gateway, ['default'], createGateway({ app: next }));
    expect(Object.keys(foreseen).sort()).to.deep.equal(['default:one', 'default:three', 'default:two']);
    const held = Object.values(foreseen).filter(({ outcome }) => outcome === 'held');
    expect(held).to.have.length(2);
    const second = await startDurable(crashed(path), { app: next });
    const heldRuns: string[] = [];
    for (const name of ['one', 'two', 'three']) {
      const session = connectClient(second.url).session(name);
      const question = (await session.state()).pending[0];
      if (question) await session.respond(question.callId, { output: 'yes' }).catch(() => {});
    }
    for await (const { sessionId, mismatch } of second.gateway.deploys.held()) {
      expect(mismatch).to.deep.equal({ what: 'step', before: 'sure', now: 'c' });
      heldRuns.push(sessionId);
    }
    expect(heldRuns.sort()).to.deep.equal(['one', 'two']);
  });

  it('ends for an app that hangs, and says so', async () => {
    const { gateway, url } = await startDurable(newDatabase(), { app: agent('1').app });
    for await (const event of connectClient(url).send('main', 'ask'))
      if (event.type === 'input_required') break;
    const hangs = defineApp({
      version: '2',
      accepts: '*',
      resumable: true,
      run: () => new Promise<void>(() => {}),
    });
    const next = createGateway({ app: hangs, limits: { rehearsalMs: 20 } });
    expect(await verdicts(gateway, ['default'], next)).to.deep.equal({
      main: { outcome: 'held', reason: 'mismatch', mismatch: { what: 'time', before: 'a' } },
    });
  });
});
