import { expect } from 'chai';
import { collect } from '../../support/client.js';
import { expiringToken } from '../../support/expiring-token.js';
import { actor, STORES } from '../actor.js';
import { FrameProxy } from '../frame-proxy.js';
import { brought, framesIn, framesOf, MAJORS, plain, startResponses } from './fixtures.js';

const SCRIPT = 'think hello look data bye';
const LAST = /^response\.(?:completed|incomplete|failed)$/;

/** What of events is the same in every run. */
const shown = (events: readonly unknown[]): unknown =>
  JSON.parse(
    JSON.stringify(events, (name, value) => {
      if (name === 'created_at' || name === 'completed_at') return 0;
      if (name === 'id' || name === 'item_id' || name === 'previous_response_id')
        return typeof value === 'string' ? value.replace(/_.*/, '') : value;
      return value;
    }),
  );

describe('a response whose stream is cut off', () => {
  for (const [store, make] of STORES)
    for (const major of MAJORS.filter(({ major: number }) => store === 'memoryStore' || number === 6)) {
      it(`goes on behind the last event that was read, wherever that was: openai ${major.major}, ${store}`, async () => {
        const { app, effects } = actor();
        const gateway = await startResponses({ app, store: make(), limits: { sendsPerSecond: 1000 } });
        const proxy = await FrameProxy.start(gateway.url);
        const direct = gateway.client(major);
        const cutting = gateway.client(major, { baseURL: `${proxy.url}/v1` });
        const body = { model: 'default', input: SCRIPT, stream: true as const };
        const uncut = plain(await collect(await direct.responses.create(body)));
        expect(uncut.map(({ sequence_number }: any) => sequence_number)).to.deep.equal([...uncut.keys()]);
        expect(uncut.length).to.be.greaterThan(20);
        for (const clean of [false, true])
          for (let after = 0; after < uncut.length; after++) {
            const where = `${clean ? 'ended' : 'cut'} after ${after} of ${uncut.length} events`;
            const headers = { 'Idempotency-Key': `${clean}-${after}` };
            proxy.cuts.push({ after, clean });
            const read: any[] = [];
            const broken = await (async () => {
              for await (const event of await cutting.responses.create(body, { headers }))
                read.push(plain(event));
            })().catch((error) => error);
            expect(read.length, where).to.equal(after);
            // The client takes a clean end for a whole answer: only the missing last event tells.
            expect(broken === undefined, where).to.equal(clean);
            expect(LAST.test(read.at(-1)?.type), where).to.equal(false);
            // Whoever was told nothing has no id: the request is sent again, under its key.
            const rest = read[0]
              ? await direct.responses.retrieve(read[0].response.id, {
                  stream: true,
                  starting_after: read.at(-1).sequence_number,
                })
              : await direct.responses.create(body, { headers });
            const told = [...read, ...plain(await collect(rest))];
            expect(shown(told), where).to.deep.equal(shown(uncut));
            const again = await direct.responses.retrieve(told[0].response.id, { stream: true });
            expect(plain(await collect(again)), where).to.deep.equal(told);
          }
        expect(proxy.ended).to.equal(2 * uncut.length);
        expect(effects).to.have.length(1 + 2 * uncut.length);
      });

      it(`goes on behind questions too, each response by itself: openai ${major.major}, ${store}`, async () => {
        const { app, effects } = actor();
        const gateway = await startResponses({ app, store: make(), limits: { sendsPerSecond: 1000 } });
        const proxy = await FrameProxy.start(gateway.url);
        const direct = gateway.client(major);
        const cutting = gateway.client(major, { baseURL: `${proxy.url}/v1` });
        const tools = [brought('where')];
        const first = await direct.responses.create({ model: 'default', input: 'a where b pay c', tools });
        const [, call] = plain(first.output);
        const answer = {
          model: 'default',
          previous_response_id: first.id,
          input: [{ type: 'function_call_output' as const, call_id: call.call_id, output: 'here' }],
          stream: true as const,
        };
        const whole = plain(await collect(await direct.responses.create(answer)));
        expect(whole.at(-1).response.output.at(-1).type).to.equal('mcp_approval_request');
        for (let after = 0; after < whole.length; after++) {
          proxy.cuts.push({ after, clean: false });
          const read: any[] = [];
          // The answer that was given is told what followed it.
          await (async () => {
            for await (const event of await cutting.responses.create(answer)) read.push(plain(event));
          })().catch(() => {});
          const id = whole[0].response.id;
          const rest = await direct.responses.retrieve(id, {
            stream: true,
            ...(after > 0 && { starting_after: after - 1 }),
          });
          expect([...read, ...plain(await collect(rest))]).to.deep.equal(whole);
        }
        const approval = plain(whole.at(-1).response.output.at(-1));
        const last = await direct.responses.create({
          model: 'default',
          previous_response_id: whole[0].response.id,
          input: [{ type: 'mcp_approval_response', approval_request_id: approval.id, approve: true }],
        });
        expect(last.output_text).to.equal('[pay: {"did":"pay","n":1}] c ');
        expect(effects).to.deep.equal(['pay']);
        // What had ended still ends where it did.
        expect(
          plain(await collect(await direct.responses.retrieve(whole[0].response.id, { stream: true }))),
        ).to.deep.equal(whole);
      });
    }

  for (const major of MAJORS)
    it(`is whole in the helper of openai ${major.major}, which asks for all of it and leaves out what it has`, async () => {
      const { app } = actor();
      const gateway = await startResponses({ app });
      const client = gateway.client(major);
      const uncut = plain(
        await collect(await client.responses.create({ model: 'default', input: SCRIPT, stream: true })),
      );
      for (const [at, { sequence_number }] of uncut.entries()) {
        const stream = client.responses.stream({
          response_id: uncut[0].response.id,
          starting_after: sequence_number,
        });
        const rest = plain(await collect(stream)).map(({ snapshot: _, ...event }: any) => event);
        expect(rest).to.deep.equal(uncut.slice(at + 1));
      }
    });

  it('is never ended cleanly before its last event: a reader whose token expires is cut', async () => {
    const { auth, limits, expire } = expiringToken();
    const gateway = await startResponses({ app: actor().app, auth, limits });
    const response = await gateway.post({ model: 'default', input: 'a ask b', stream: true });
    const decoder = new TextDecoder();
    let text = '';
    const reading = (async () => {
      for await (const bytes of response.body!) {
        text += decoder.decode(bytes, { stream: true });
        if (text.includes('response.output_text.delta')) expire();
      }
    })();
    expect(await reading.catch((error) => error)).to.be.instanceOf(TypeError);
    expect(framesIn(text).at(-1)).to.include({ type: 'response.output_text.delta', delta: 'a ' });
  });
});

describe('a request that comes again', () => {
  for (const [store, make] of STORES) {
    it(`under its key is told the same, and runs once, whatever it begins: ${store}`, async () => {
      const { app, effects } = actor();
      const gateway = await startResponses({ app, store: make() });
      const headers = { 'idempotency-key': 'k1' };
      const first = { model: 'default', input: 'look', stream: true };
      const one = await framesOf(await gateway.post(first, { headers }));
      expect(await framesOf(await gateway.post(first, { headers }))).to.deep.equal(one);
      const { id } = one[0].response;
      for (const key of ['next', 'branch', 'named']) {
        const more = key === 'named' ? { conversation: 'conv_a' } : { previous_response_id: id };
        const body = { model: 'default', input: `look ${key}`, stream: true, ...more };
        const keyed = { headers: { 'idempotency-key': key } };
        const [a, b] = await Promise.all(
          [gateway.post(body, keyed), gateway.post(body, keyed)].map(async (it) => framesOf(await it)),
        );
        expect(b).to.deep.equal(a);
        expect(await framesOf(await gateway.post(body, keyed))).to.deep.equal(a);
      }
      expect(effects).to.deep.equal(['look', 'look', 'look', 'look']);
      const other = await gateway.post({ ...first, input: 'other' }, { headers });
      expect([other.status, (await other.json()).error.code]).to.deep.equal([422, 'idempotency_conflict']);
    });

    it(`with the whole conversation of a named session joins its run: ${store}`, async () => {
      const { app, effects } = actor();
      const gateway = await startResponses({ app, store: make() });
      const headers = { 'x-session-id': 'mine' };
      const input = [{ role: 'user', content: 'look' }];
      const one = await (await gateway.post({ input }, { headers })).json();
      const next = {
        input: [
          ...input,
          { role: 'assistant', content: one.output.at(-1).content },
          { role: 'user', content: 'look on' },
        ],
      };
      const keyed = { headers: { ...headers, 'idempotency-key': 'k' } };
      const two = await (await gateway.post(next, keyed)).json();
      expect(await (await gateway.post(next, keyed)).json()).to.deep.equal(two);
      expect(effects).to.have.length(2);
    });
  }

  for (const major of MAJORS)
    it(`from openai ${major.major} by itself, after a lost connection, runs once`, async () => {
      const { app, effects } = actor();
      const gateway = await startResponses({ app });
      let lost = 1;
      const losing: typeof fetch = async (input, init) => {
        const response = await fetch(input, init);
        if (lost-- <= 0) return response;
        await response.text();
        throw new TypeError('the connection was lost');
      };
      const client = gateway.client(major, { maxRetries: 2, fetch: losing });
      const response = await client.responses.create({ model: 'default', input: 'look' });
      expect(response.status).to.equal('completed');
      expect(effects).to.deep.equal(['look']);
      // Two equal questions are two.
      const other = await client.responses.create({ model: 'default', input: 'look' });
      expect(other.id).to.not.equal(response.id);
      expect(effects).to.have.length(2);
    });
});
