import { expect } from 'chai';
import { createClient } from '../../../client/index.js';
import { type EventOf, tool } from '../../../server/index.js';
import type { McpServerPluginOptions } from '../../../server/plugins/mcp/index.js';
import { gate } from '../../support/gate.js';
import { Hearing } from '../../support/hearing.js';
import { closeLater } from '../../support/resources.js';
import { as } from '../../support/users.js';
import { CLIENTS, type FormAnswer, messagesOf, postMcp, startMcp, withoutSessions } from './mcp-clients.js';
import { payments } from './offered-tools.js';

/** Tools that ask, and what they did. */
const offered = () =>
  payments((paid) => ({
    plain: tool({ handler: () => 'plain' }),
    transfer: tool({
      confirm: { roles: ['finance'], approvals: 2, expiresInMs: 3_600_000 },
      handler: () => paid.push('transferred'),
    }),
  }));

const approves: FormAnswer = async () => ({ action: 'accept', content: { approve: true } });

/** Alice's page, which follows the session; `asked` is the first confirmation it sees. */
async function page({ gateway, base }: Awaited<ReturnType<typeof startMcp>>) {
  const connected = new Hearing(gateway, 'client:connected');
  const client = closeLater(createClient({ baseUrl: base, token: 'alice' }), (it) => it.disconnect());
  const events = client.events('main')[Symbol.asyncIterator]();
  const next = async (type: string): Promise<any> => {
    for (;;) {
      const { value } = await events.next();
      if (value.type === type) return value;
    }
  };
  const asked = next('tool_confirmation_required') as Promise<EventOf<'tool_confirmation_required'>>;
  await connected.nth();
  return { session: client.session('main'), asked, next };
}

for (const { name, connect } of CLIENTS) {
  describe(`a confirmation put to the person at ${name}`, () => {
    const calling = async (answer: FormAnswer, options: Partial<McpServerPluginOptions> = {}) => {
      const { app, paid } = offered();
      const started = await startMcp({ app }, options);
      const client = await connect(started.url, as('alice'), answer);
      return { ...started, client, paid };
    };

    it('tells them of the policy, and refuses them where they have no role', async () => {
      const forms: any[] = [];
      const { client, paid } = await calling(async (form, signal) => {
        forms.push(form);
        return approves(form, signal);
      });
      const said = await client.call('transfer', {}).then(
        (output: any) => JSON.stringify(output),
        (error: Error) => error.message,
      );
      expect(forms[0].message).to.match(/For finance\. 2 people have to allow it\. Until .*, then: deny\./);
      expect(said).to.include('You need another role');
      expect(paid).to.deep.equal([]);
    });

    it('runs the tool when they allow it, with nobody on the session', async () => {
      const forms: any[] = [];
      const { client, paid } = await calling(async (form, signal) => {
        forms.push(form);
        return approves(form, signal);
      });
      const result = await client.call('pay', { sum: 5 });
      expect(result.isError).not.to.equal(true);
      expect(result.content).to.deep.equal([{ type: 'text', text: 'paid 5' }]);
      expect(paid).to.deep.equal([5]);
      expect(forms).to.have.length(1);
      expect(forms[0].message).to.equal('Really pay?\n\npay {"sum":5}');
      expect(forms[0].requestedSchema).to.have.nested.property('properties.approve.type', 'boolean');
    });

    const refusals: [string, FormAnswer, string][] = [
      ['decline', async () => ({ action: 'decline' }), 'Denied: declined'],
      ['close the form', async () => ({ action: 'cancel' }), 'Denied: cancelled'],
      [
        'say no, and why',
        async () => ({ action: 'accept', content: { approve: false, reason: 'too much' } }),
        'Denied: too much',
      ],
    ];
    for (const [what, answer, text] of refusals) {
      it(`does not run it when they ${what}`, async () => {
        const { client, paid } = await calling(answer);
        const result = await client.call('pay', { sum: 5 });
        expect(result).to.deep.include({ isError: true, content: [{ type: 'text', text }] });
        expect(paid).to.deep.equal([]);
      });
    }

    it('is seen by who follows the session, with its answer', async () => {
      const { client, gateway, base, url, log } = await calling(approves);
      const { asked, next } = await page({ gateway, base, url, log });
      const result = client.call('pay', { sum: 5 });
      const question = await asked;
      expect(question).to.deep.include({ name: 'pay', input: { sum: 5 }, message: 'Really pay?' });
      expect(await next('tool_confirmation_result')).to.deep.include({
        callId: question.callId,
        approved: true,
        by: 'alice',
      });
      expect((await result).content[0].text).to.equal('paid 5');
    });

    it('counts once, when the page was quicker than the form', async () => {
      const shown = gate();
      const late = gate();
      const { client, paid, ...started } = await calling(async (form, signal) => {
        shown.open();
        signal.addEventListener('abort', () => late.open());
        await late.passed;
        return approves(form, signal);
      });
      const { session, asked, next } = await page(started);
      const result = client.call('pay', { sum: 5 });
      const { callId } = await asked;
      await shown.passed;
      await session.deny(callId, 'not today');
      expect(await next('tool_confirmation_result')).to.deep.include({ callId, approved: false });
      // A client with a session is told; any other comes back with what its person said too late.
      late.open();
      expect((await result).content[0].text).to.equal('Denied: not today');
      expect(paid).to.deep.equal([]);
    });

    it('is left to the page, where the form cannot be shown', async () => {
      const failed = gate();
      const { client, ...started } = await calling(async () => {
        failed.open();
        throw new Error('no window');
      });
      const { session, asked } = await page(started);
      const result = client.call('pay', { sum: 5 }).catch((error: unknown) => error);
      const { callId } = await asked;
      await failed.passed;
      if (name.includes('2026')) {
        // This client gives its call up by itself.
        expect(await result).to.be.instanceOf(Error);
      } else {
        await session.approve(callId);
        expect((await result).content[0].text).to.equal('paid 5');
      }
    });

    it('leaves tools alone that ask nothing', async () => {
      const { client } = await calling(approves);
      expect((await client.call('plain')).content[0].text).to.equal('plain');
    });
  });
}

describe('a confirmation between two requests of revision 2026-07-28', () => {
  const asking = async (options: Partial<McpServerPluginOptions> = {}) => {
    const { app, paid } = offered();
    const started = await startMcp({ app }, options);
    const raw = async (params: object, user = 'alice') => {
      const [answer] = await messagesOf(
        await postMcp(started.url, message(params), {
          ...as(user),
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'pay',
        }),
      );
      return answer;
    };
    const begin = () => raw({ name: 'pay', arguments: { sum: 5 } });
    const yes = { inputResponses: { confirm: { action: 'accept', content: { approve: true } } } };
    const goOn = (requestState: string, { sum = 5, user = 'alice' } = {}) =>
      raw({ name: 'pay', arguments: { sum }, requestState, ...yes }, user);
    return { ...started, paid, raw, begin, goOn };
  };
  const message = (params: object) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      ...params,
      _meta: {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
      },
    },
  });

  it('is answered by its own user alone, for the same call, and once', async () => {
    const { begin, goOn, paid } = await asking();
    const { result } = await begin();
    expect(result).to.deep.include({ resultType: 'input_required' });
    const { requestState } = result;
    for (const [state, other] of [
      [requestState, { user: 'bob' }],
      [requestState, { user: 'acme/alice' }],
      [requestState, { sum: 500 }],
      [`${requestState.slice(0, -2)}AA`, {}],
      ['v1.e30.e30', {}],
    ] as const) {
      expect((await goOn(state, other)).error, JSON.stringify(other)).to.deep.include({ code: -32602 });
    }
    expect(paid).to.deep.equal([]);
    expect((await goOn(requestState)).result.content[0].text).to.equal('paid 5');
    expect((await goOn(requestState)).error).to.deep.include({ code: -32602 });
    expect(paid).to.deep.equal([5]);
  });

  it('is put again to a client that comes back without an answer', async () => {
    const { begin, raw, goOn, paid } = await asking();
    const first = (await begin()).result;
    const again = await raw({ name: 'pay', arguments: { sum: 5 }, requestState: first.requestState });
    expect(again.result.inputRequests).to.deep.equal(first.inputRequests);
    expect((await goOn(again.result.requestState)).result.content[0].text).to.equal('paid 5');
    expect(paid).to.deep.equal([5]);
  });

  it('gives its client what came of an answer that was given elsewhere', async () => {
    const { begin, raw, paid, ...started } = await asking();
    const { session, asked, next } = await page(started);
    const { requestState } = (await begin()).result;
    await session.approve((await asked).callId);
    await next('tool_confirmation_result');
    const answer = await raw({ name: 'pay', arguments: { sum: 5 }, requestState });
    expect(answer.result.content[0].text).to.equal('paid 5');
    expect(paid).to.deep.equal([5]);
  });

  it('is taken back when nobody comes back in time', async () => {
    const { begin, goOn, paid, ...started } = await asking({ limits: { answerMs: 1 } });
    const { asked, next } = await page(started);
    const { requestState } = (await begin()).result;
    const { callId } = await asked;
    expect(await next('tool_confirmation_result')).to.deep.include({ callId, approved: false });
    expect((await goOn(requestState)).error).to.deep.include({ code: -32602 });
    expect(paid).to.deep.equal([]);
  });

  it('is not put to a client with too many of them', async () => {
    const { begin, goOn } = await asking({ limits: { questionsPerUser: 1 } });
    const { requestState } = (await begin()).result;
    const refused = (await begin()).result;
    expect(refused).to.deep.include({ isError: true });
    expect(refused.content[0].text).to.equal('You have too many questions open');
    await goOn(requestState);
    expect((await begin()).result).to.deep.include({ resultType: 'input_required' });
  });

  it('does not keep the gateway from closing', async () => {
    const { begin, gateway } = await asking();
    expect((await begin()).result).to.deep.include({ resultType: 'input_required' });
    await gateway.close();
  });

  it('fails at once for a client that shows no forms', async () => {
    const { app } = offered();
    const { url } = await startMcp({ app });
    const result = await (await withoutSessions.connect(url)).call('pay', { sum: 5 });
    expect(result.content[0].text).to.match(/nobody follows the session main/);
  });
});
