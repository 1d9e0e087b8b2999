import { expect } from 'chai';
import { defineApp } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { connectClient } from '../support/client.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { until } from '../support/until.js';

const SESSIONS = ['hangs', 'b', 'c', 'd'];

/** An app that does a step and then stands, in version 1, and notes how often it is called. */
function noted(version: string, { hangs = '' } = {}) {
  const called: string[] = [];
  const done: string[] = [];
  const app = defineApp({
    ...{ version, accepts: '*', resumable: true },
    async *run(turn) {
      called.push(`${turn.text}${turn.rehearsing ? ' in rehearsal' : ''}`);
      if (turn.text === hangs && turn.rehearsing) await new Promise(() => {});
      await turn.step('first', () => done.push(turn.text));
      if (version === '1') {
        turn.emit('did', {});
        await new Promise(() => {});
      }
      const { text } = turn;
      await turn.step('second', () => done.push(`${text} again`));
      turn.title(`titled by ${version}`);
      yield `${text} by ${version}`;
    },
  });
  return { app, called, done };
}

/** A database in which a run of version 1 stands in each session. */
async function standing(): Promise<string> {
  const path = newDatabase();
  const { url } = await startDurable(path, { app: noted('1').app });
  for (const name of SESSIONS)
    for await (const event of connectClient(url).session(name).send(name)) if (event.type === 'custom') break;
  return crashed(path);
}

describe('a rehearsal', () => {
  it('is not made where the versions are equal: the app is called once for each run', async () => {
    const { app, called } = noted('1');
    await startDurable(await standing(), { app });
    await until(() => called.length === SESSIONS.length);
    expect([...called].sort()).to.deep.equal([...SESSIONS].sort());
  });

  it('holds one run and no other where it hangs, and is made once for each version', async () => {
    const { app, called, done } = noted('2', { hangs: 'hangs' });
    const path = await standing();
    const { gateway, url } = await startDurable(path, { app, limits: { rehearsalMs: 300, rehearsals: 2 } });
    const stateOf = (name: string) => connectClient(url).session(name).state();
    const ends = async (name: string) => (await stateOf(name)).messages.at(-1)!;
    for (const name of SESSIONS.slice(1)) {
      await until(async () => (await stateOf(name)).run === null);
      expect(textOf(await ends(name))).to.equal(`${name} by 2`);
      expect((await stateOf(name)).title).to.equal('titled by 2');
    }
    await until(async () => (await stateOf('hangs')).run?.held != null);
    expect([...called].sort()).to.deep.equal(
      [...SESSIONS.flatMap((name) => [`${name} in rehearsal`, ...(name === 'hangs' ? [] : [name])])].sort(),
    );
    expect([...done].sort()).to.deep.equal(['b again', 'c again', 'd again']);
    expect((await stateOf('hangs')).title, 'it had no effect').to.equal(undefined);
    await gateway.close();
    called.length = 0;
    // The same version comes again: what it cannot go on with is known.
    const again = await startDurable(path, { app, limits: { rehearsalMs: 300 } });
    await connectClient(again.url).session('hangs').abort();
    expect(called).to.deep.equal([]);
  });

  it('comes to where a run is that has taken something back', async () => {
    const appOf = (version: string) =>
      defineApp({
        ...{ version, accepts: '*', resumable: true },
        async *run(turn) {
          const mark = turn.mark();
          yield 'half of it';
          turn.retract(mark);
          yield 'all of ';
          if (version === '1') {
            turn.emit('did', {});
            await new Promise(() => {});
          }
          yield `it by ${version}`;
        },
      });
    const path = newDatabase();
    const first = await startDurable(path, { app: appOf('1') });
    for await (const event of connectClient(first.url).session('main').send('go'))
      if (event.type === 'custom') break;
    const { url } = await startDurable(crashed(path), { app: appOf('2') });
    const stateOf = () => connectClient(url).session('main').state();
    await until(async () => (await stateOf()).run?.held != null || (await stateOf()).run === null);
    expect(textOf((await stateOf()).messages.at(-1)!)).to.equal('all of it by 2');
  });
});
