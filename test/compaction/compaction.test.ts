import { expect } from 'chai';
import { defineApp, type SessionHandle } from '../../server/index.js';
import type { EventOf } from '../../shared/events.js';
import type { HiddenPart } from '../../shared/grants.js';
import { textOf } from '../../shared/messages.js';
import { collect, connectClient, failure, takeUntil } from '../support/client.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { startGateway } from '../support/gateway.js';
import { byName } from '../support/users.js';
import { charge, given, once, sized, summariesIn, summarizing, talk } from './support.js';

const limits = { sendsPerSecond: Infinity };

async function startWith(app: ReturnType<typeof defineApp>, more: object = {}) {
  const started = await startGateway({ app, limits, ...more });
  return { ...started, session: started.gateway.session('main', { user: { id: 'ann' } }) };
}

const textsOf = async (session: Pick<SessionHandle, 'history'>): Promise<string> => {
  const { messages } = await session.history();
  return messages.map(textOf).join(' ');
};

describe('compaction', () => {
  it('gives the app a summary and the tail once its history is long, and everybody else all of it', async () => {
    const made: string[] = [];
    const { app, histories } = summarizing(sized({}, made));
    const { session } = await startWith(app);
    await talk(session, 6);
    expect(histories.slice(3)).to.deep.equal([
      '[sum of 4] q3 ok',
      '[sum of 4] q3 ok q4 ok',
      '[sum of 5] q5 ok',
    ]);
    // The second is made of the first and what came after.
    expect(made).to.deep.equal(['q1 ok q2 ok', '[sum of 4] q3 ok q4 ok']);
    const { messages } = await session.history();
    expect(messages.map(textOf).join(' ')).to.equal('q1 ok q2 ok q3 ok q4 ok q5 ok q6 ok');
    expect(await collect(session.export())).to.deep.equal(messages);
    expect(messages[3]!.compaction).to.deep.include({
      ...{ summary: 'sum of 4', covers: 4, runId: messages[7]!.runId },
      usage: { inputTokens: 8, outputTokens: 2 },
    });
    expect(messages[7]!.compaction).to.include({ summary: 'sum of 5', covers: 8 });
    expect(summariesIn(messages)).to.have.length(2);
  });

  it('makes a long conversation cost what its tail costs, and counts what the summaries cost', async () => {
    const usageOf = async (app: ReturnType<typeof defineApp>): Promise<number[]> => {
      const { session } = await startWith(app);
      await talk(session, 40);
      const { messages } = await session.history({ limit: 100 });
      return messages.flatMap(({ usage }) => (usage ? [Number(usage.inputTokens)] : []));
    };
    const long = (usage: readonly number[]) => usage.slice(-10).reduce((sum, each) => sum + each, 0);
    const plain = await usageOf(defineApp({ run: (turn) => ({ text: 'ok', usage: charge(turn) }) }));
    const summed = await usageOf(summarizing(sized()).app);
    // Without it the cost of an answer grows with the conversation.
    expect(plain.at(-1)).to.be.greaterThan(8 * plain[4]!);
    expect(long(summed)).to.be.lessThan(long(plain) / 3);
    // A run that begins with a summary has the tokens of making it in its own.
    expect(summed[3]).to.equal('q1okq2ok'.length + 'sum of 4q3okq4'.length);
  });

  it('goes on with the whole history if making a summary fails, with one line in the log', async () => {
    for (const make of [
      () => Promise.reject(new Error('no model')),
      () => '',
      () => ({ summary: 'x'.repeat(101) }),
    ]) {
      const { app, histories } = summarizing(sized({ make }));
      const { session, log } = await startWith(app, { limits: { ...limits, summaryLength: 100 } });
      await talk(session, 4);
      expect(histories.at(-1)).to.equal('q1 ok q2 ok q3 ok');
      const { messages } = await session.history();
      expect(messages.at(-1)).to.include({ stopReason: 'end' });
      expect(summariesIn(messages)).to.deep.equal([]);
      expect(log.lines.map(({ message }) => message)).to.have.length(1);
      expect(log.lines[0]!.message).to.contain('making a summary failed');
    }
  });

  it('is checked by a guard before it is in the log', async () => {
    const check = (text: string) =>
      text.includes('secret') ? { replace: text.replace('secret', '…') } : undefined;
    const { app, histories } = summarizing(sized({ make: () => 'a secret sum' }), { guard: { check } });
    const { session } = await startWith(app);
    await talk(session, 4);
    expect(histories.at(-1)).to.equal('[a … sum] q3 ok');
    expect(summariesIn((await session.history()).messages)[0]).to.contain('a … sum');
  });

  it('leaves nothing behind if the run ends meanwhile', async () => {
    const [begun, made] = [gate(), gate()];
    const make = async ({ signal }: { readonly signal: AbortSignal }) => {
      begun.open();
      await once(signal, 'abort');
      made.open();
      return 'too late';
    };
    const { app, histories } = summarizing(sized({ make }));
    const { session, log } = await startWith(app);
    await talk(session, 3);
    const run = session.send('q4');
    await begun.passed;
    expect(await session.abort()).to.equal(true);
    await made.passed;
    expect((await run.result).stopReason).to.equal('aborted');
    await session.update({ title: 'after' });
    expect(histories).to.have.length(3);
    expect(summariesIn((await session.history()).messages)).to.deep.equal([]);
    expect(log.lines).to.deep.equal([]);
  });

  it('is undone by an edit of what it covers, and not by one behind it', async () => {
    const { app, histories } = summarizing(sized());
    const { url } = await startGateway({ app, limits });
    const session = connectClient(url).session('main');
    for (let n = 1; n <= 4; n++) await session.send({ id: `q${n}`, content: `q${n}` }).result;
    await session.edit('q4', 'e4').result;
    expect(histories.at(-1)).to.equal('[sum of 4] q3 ok');
    await session.edit('q2', { id: 'e2', content: 'e2' }).result;
    expect(histories.at(-1)).to.equal('q1 ok');
    await session.send('q5').result;
    expect(histories.at(-1)).to.equal('q1 ok e2 ok');
    // Back on the other path it holds again.
    await session.move({ version: 'q2' });
    await session.send('q6').result;
    expect(histories.at(-1)).to.equal('[sum of 4] q3 ok e4 ok');
    await session.regenerate('q2').result;
    expect(histories.at(-1)).to.equal('q1 ok');
  });

  it('goes along with a fork behind it, an export and an import, and not with a fork before it', async () => {
    const { app, histories } = summarizing(sized());
    const { session, gateway } = await startWith(app);
    await talk(session, 4);
    await session.fork('behind');
    await session.fork('before', { at: 'q2' });
    const user = { user: { id: 'ann' } };
    const copy = gateway.session('copy', user);
    await copy.import(await collect(session.export()));
    for (const [name, expected] of [
      ['behind', '[sum of 4] q3 ok q4 ok'],
      ['before', 'q1 ok q2'],
      ['copy', '[sum of 4] q3 ok q4 ok'],
    ] as const) {
      await gateway.session(name, user).send('next').result;
      expect(histories.at(-1), name).to.equal(expected);
    }
    expect(await textsOf(gateway.session('behind', user))).to.equal('q1 ok q2 ok q3 ok q4 ok next ok');
  });

  it('begins when the app says, by the size of what a model is given', async () => {
    const sizes: object[] = [];
    const { app, histories } = summarizing(
      sized({
        when: (size, history) => sizes.push({ ...size, last: given(history.slice(-1)) }) === 3,
        keep: 0,
      }),
    );
    const { session } = await startWith(app);
    await talk(session, 4);
    expect(sizes[0]).to.deep.equal({ messages: 1, characters: 2, tokens: 1, last: '' });
    expect(sizes[2]).to.deep.equal({ messages: 5, characters: 10, tokens: 3, last: 'ok' });
    expect(histories.slice(2)).to.deep.equal(['[sum of 4]', '[sum of 4] q3 ok']);
  });

  it('leaves no more of a conversation than a quarter of the tokens, so that the next run needs none', async () => {
    const { app, histories } = summarizing(sized({ when: { tokens: 100 }, keep: 10 }));
    const { session } = await startWith(app);
    for (let n = 1; n <= 8; n++) await session.send(`${n}`.repeat(60)).result;
    const lengths = histories.map((text) => text.length);
    expect(histories.filter((text) => text.startsWith('['))).to.have.length.greaterThan(1);
    for (const length of lengths) expect(length).to.be.lessThan(400 + 10);
    const { messages } = await session.history();
    expect(summariesIn(messages)).to.have.length.lessThan(4);
  });

  it('is refused with what cannot be', async () => {
    const make = () => '';
    for (const [compact, field] of [
      [{}, 'compact.make'],
      [{ make, keep: 41 }, 'compact.keep'],
      [{ make, keep: -1 }, 'compact.keep'],
      [{ make, when: { tokens: 0 } }, 'compact.when'],
      [{ make, when: { letters: 7 } }, 'compact.when'],
    ] as const)
      expect(() => defineApp({ compact: compact as any, run: () => '' }), field).to.throw(field);
  });

  it('shows no summary by a grant that hides what it may tell of', async () => {
    const { app } = summarizing(sized());
    const { gateway, url } = await startGateway({ app, limits, auth: byName });
    const ben = connectClient(url, { token: 'ben' });
    const session = gateway.session('main', { user: { id: 'ann' } });
    await talk(session, 4);
    const seenBy = async (hide: readonly HiddenPart[]) => {
      const { grant } = await session.share({ with: { userId: 'ben' }, as: 'viewer', hide });
      const { messages } = await ben.session(grant.sessionId).history();
      const seen = ben.events(grant.sessionId, { from: 'earliest' });
      const events = await takeUntil(seen, ({ type }) => type === 'compacted');
      const { summary, usage } = events.at(-1) as EventOf<'compacted'>;
      const compaction = messages[3]!.compaction!;
      expect([compaction.summary, compaction.usage]).to.deep.equal([summary, usage]);
      return { summary, counts: usage !== undefined };
    };
    expect(await seenBy([])).to.deep.equal({ summary: 'sum of 4', counts: true });
    expect(await seenBy(['usage'])).to.deep.equal({ summary: 'sum of 4', counts: false });
    for (const part of ['reasoning', 'toolInput', 'toolOutput', 'data', 'metadata'] as const)
      expect(await seenBy([part]), part).to.deep.equal({ summary: '', counts: true });
  });
});

describe('session.compact', () => {
  it('has the app summarize in a run beside the conversation, whose answer is the summary', async () => {
    const { app, histories } = summarizing(sized({ when: () => false }));
    const { session } = await startWith(app);
    await talk(session, 3);
    const { runId } = await session.compact({ keep: 0 });
    const { message, stopReason, usage } = await session.run(runId).result;
    expect([textOf(message), stopReason]).to.deep.equal(['sum of 6', 'end']);
    expect(usage).to.include({ inputTokens: 12, outputTokens: 2 });
    expect(histories).to.have.length(3);
    expect(await textsOf(session)).to.equal('q1 ok q2 ok q3 ok');
    // Nothing is left to summarize.
    const again = await session.compact({ keep: 0 });
    expect(textOf((await session.run(again.runId).result).message)).to.equal('');
    await session.send('q4').result;
    expect(histories.at(-1)).to.equal('[sum of 6]');
  });

  it('is refused for an app that summarizes nothing, a session that is not there and a wrong number', async () => {
    const { session } = await startWith(defineApp({ run: () => 'ok' }));
    await session.send('hi').result;
    expect((await failure(session.compact())).code).to.equal('INVALID_REQUEST');
    const { session: other } = await startWith(summarizing(sized()).app);
    expect((await failure(other.compact())).code).to.equal('SESSION_NOT_FOUND');
    expect((await failure(other.compact({ keep: -1 }))).message).to.contain('keep');
  });
});

describe('turn.compact', () => {
  it('summarizes what the app asks for, within its run, as a step', async () => {
    const seen: string[] = [];
    const app = defineApp({
      async run(turn) {
        const before = turn.history;
        const after = await turn.compact({ keep: 2, make: ({ messages }) => `sum of ${messages.length}` });
        expect(after).to.equal(turn.history);
        seen.push(`${given(before)} -> ${given(after)}`);
        return 'ok';
      },
    });
    const { session } = await startWith(app);
    await talk(session, 3);
    expect(seen).to.deep.equal([' -> ', 'q1 ok -> q1 ok', 'q1 ok q2 ok -> [sum of 2] q2 ok']);
  });

  it('tells the app of a failure, and leaves everything as it was', async () => {
    const failures: string[] = [];
    const app = defineApp({
      async run(turn) {
        const fail = async () => Promise.reject(new Error('no model'));
        for (const options of [{ keep: 0, make: fail }, { keep: 0 }, { keep: 41, make: fail }])
          failures.push((await failure(turn.compact(options))).message);
        return given(turn.history);
      },
    });
    const { session } = await startWith(app);
    await session.send('q1').result;
    failures.length = 0;
    const { message } = await session.send('q2').result;
    expect(failures.map((text) => text.replace(/:.*/, ''))).to.deep.equal(['no model', 'make', 'keep']);
    expect(textOf(message)).to.equal('q1');
  });
});

describe('compaction over a crash', () => {
  /** Runs up to the fourth message, whose process ends where the app stops. */
  async function crashedIn(stage: 'make' | 'run', { asked = false }: { readonly asked?: boolean } = {}) {
    const path = newDatabase();
    const stop = gate();
    const never = () => new Promise<never>(() => {});
    const made: string[] = [];
    const histories: string[] = [];
    let first = true;
    const app = () => {
      const isFirst = first;
      first = false;
      const compact = sized({
        when: asked ? () => false : { messages: 7 },
        make: ({ messages, key }) => {
          made.push(key);
          if (isFirst && stage === 'make') {
            stop.open();
            return never();
          }
          return { summary: `sum of ${messages.length}`, usage: { inputTokens: 8 } };
        },
      });
      return defineApp({
        resumable: true,
        compact,
        async run(turn) {
          const isLast = turn.text === 'q4';
          const begun = given(turn.history);
          await turn.step('before', () => 1);
          if (asked && isLast) await turn.compact();
          await turn.step('after', () => 2);
          histories.push(`${begun} -> ${given(turn.history)}`);
          if (isLast && isFirst && stage === 'run') {
            stop.open();
            await never();
          }
          return { text: 'ok', usage: { inputTokens: 1 } };
        },
      });
    };
    const before = await startDurable(path, { app: app(), limits });
    const session = before.gateway.session('main', { user: { id: 'ann' } });
    await talk(session, 3);
    histories.length = 0;
    const run = session.send({ id: 'q4', content: 'q4' });
    const { runId } = await run.accepted;
    await stop.passed;
    const after = await startDurable(crashed(path), { app: app(), limits });
    const again = after.gateway.session('main', { user: { id: 'ann' } });
    await again.run(runId).result;
    const { messages } = await again.history();
    return { made, histories, messages, usage: messages.at(-1)!.usage };
  }

  for (const asked of [false, true]) {
    const by = asked ? 'by turn.compact' : 'at the beginning';
    it(`is made once, and what the app was given is the same (${by})`, async () => {
      const { made, histories, messages, usage } = await crashedIn('run', { asked });
      expect(made).to.have.length(1);
      expect(histories).to.have.length(2);
      expect(histories[1]).to.equal(histories[0]);
      expect(histories[0]).to.equal(
        `${asked ? 'q1 ok q2 ok q3 ok' : '[sum of 4] q3 ok'} -> [sum of 4] q3 ok`,
      );
      expect(messages.map(textOf).join(' ')).to.equal('q1 ok q2 ok q3 ok q4 ok');
      expect(summariesIn(messages)).to.have.length(1);
      // A step that is not done again counts nothing again; the app counts, as for its own steps.
      if (!asked) expect(usage).to.deep.equal({ inputTokens: 9 });
    });

    it(`is made again under its key if the process ends in the middle (${by})`, async () => {
      const { made, histories, messages } = await crashedIn('make', { asked });
      expect(made).to.have.length(2);
      expect(made[1]).to.equal(made[0]);
      expect(histories).to.have.length(1);
      expect(summariesIn(messages)).to.have.length(1);
    });
  }
});
