import { expect } from 'chai';
import { z } from 'zod';
import { type App, defineApp, GatewayError, type Turn, tool } from '../../server/index.js';
import { pendingOf, type TestClient, testGateways } from '../../testing/index.js';

const start = testGateways(afterEach);

const tools = {
  pay: tool({
    schema: z.object({ amount: z.number() }),
    confirm: true,
    handler: ({ amount }) => `${amount} paid`,
  }),
  refuse: tool({
    handler: () => {
      throw new GatewayError({ code: 'QUOTA_EXCEEDED', message: 'The disk is full' });
    },
  }),
  break: tool({
    handler: () => {
      throw new Error('a secret of the host');
    },
  }),
};
type Called = Turn<typeof tools>;

/** Runs an app that catches nothing. */
async function uncaught(
  run: (turn: Called) => Promise<unknown>,
  answer: (client: TestClient) => Promise<unknown> = async () => {},
  more: Partial<App> = {},
) {
  const app = defineApp({
    ...more,
    tools,
    async *run(turn) {
      yield 'One moment. ';
      yield String(await run(turn));
    },
  });
  const gateway = await start({ app });
  const client = gateway.client();
  const sent = client.send('main', 'hi');
  await answer(client);
  const { stopReason, error, message } = await sent.result;
  // An app that asks is told at the start that it is not resumable.
  const errors = gateway.log.filter(
    ({ level, message }) => (level === 'error' || level === 'warn') && !/not resumable/.test(message),
  );
  const text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { stopReason, error, text, errors, gateway };
}

const deny = async (client: TestClient): Promise<void> => {
  await client.session('main').deny(await pendingOf(client, 'main', 'pay'), 'too dear');
};

describe('what an app does not catch', () => {
  it('a denial ends the run well, with who denied what, and is no error of the log', async () => {
    const { stopReason, error, text, errors } = await uncaught(
      (turn) => turn.callTool('pay', { amount: 250 }),
      deny,
    );
    expect(error).to.deep.equal({ code: 'DENIED', message: 'pay was denied' });
    expect(stopReason).to.equal('end');
    expect(text).to.equal('One moment. ');
    expect(errors).to.deep.equal([]);
  });

  it('a question that a person declines ends it in the same way', async () => {
    const { stopReason, error, errors } = await uncaught(
      (turn) => turn.ask({ name: 'day' }),
      async (client) => {
        const { callId } = await pendingOf(client, 'main', 'day');
        await client.session('main').respond(callId, { approved: false });
      },
    );
    expect({ stopReason, error }).to.deep.equal({
      stopReason: 'end',
      error: { code: 'DENIED', message: 'day was denied' },
    });
    expect(errors).to.deep.equal([]);
  });

  it('a denial within a step, also when the outcome of the step is told again', async () => {
    const { stopReason, error } = await uncaught(
      (turn) =>
        turn
          .step('pay', () => turn.callTool('pay', { amount: 1 }))
          .catch((failure: unknown) => {
            throw failure;
          }),
      deny,
      { resumable: true },
    );
    expect(stopReason).to.equal('end');
    expect(error).to.include({ code: 'DENIED' });
  });

  it('what else runs for the app hears that it is over', async () => {
    let reason: unknown;
    await uncaught(async (turn) => {
      turn.signal.addEventListener('abort', () => (reason = turn.signal.reason));
      await turn.callTool('pay', { amount: 1 });
    }, deny);
    expect(reason).to.be.instanceOf(DOMException).and.include({ name: 'AbortError' });
  });

  for (const [what, call, message] of [
    [
      'that there is not',
      (turn: Called) => turn.callTool('nope' as never, {} as never),
      'The tool nope failed',
    ],
    ['that refuses', (turn: Called) => turn.callTool('refuse', undefined as never), 'The tool refuse failed'],
    ['that breaks', (turn: Called) => turn.callTool('break', undefined as never), 'The tool break failed'],
  ] as const)
    it(`a tool ${what} fails the run and is named, without a word of its own`, async () => {
      const { stopReason, error, errors } = await uncaught(call);
      expect(stopReason).to.equal('error');
      expect(error).to.deep.equal({ code: 'TOOL_FAILED', message });
      expect(errors, 'the log has why').to.not.deep.equal([]);
    });

  it('wrong input of a tool fails the run and names the tool; the log has the field', async () => {
    const { stopReason, error, errors } = await uncaught((turn) =>
      turn.callTool('pay', { amount: 'x' } as never),
    );
    expect({ stopReason, error }).to.deep.equal({
      stopReason: 'error',
      error: { code: 'TOOL_FAILED', message: 'The tool pay failed' },
    });
    expect(errors.map(({ details }) => String((details as { err?: unknown }).err)).join()).to.contain(
      'amount',
    );
  });
});
