import { expect } from 'chai';
import { z } from 'zod';
import { defineApp, type SessionHandle, tool } from '../../server/index.js';
import { embedGateway } from '../support/embedded.js';

async function eventOf(run: AsyncIterable<{ type: string }>, type: string): Promise<any> {
  for await (const event of run) if (event.type === type) return event;
  throw new Error(`no ${type}`);
}

describe('a question', () => {
  it('can be put again under a call id that was used in an earlier turn, and answered', async () => {
    const app = defineApp({
      async *run(turn) {
        yield { type: 'tool_use', callId: 'call_0', name: 'rm', input: {} };
        const { approved } = await turn.confirm({ callId: 'call_0', name: 'rm', input: {} });
        yield approved ? 'done' : 'no';
      },
    });
    const session = embedGateway({ app }).session('main');
    for (const approved of [true, false, true]) {
      const run = session.send('x');
      await eventOf(run, 'tool_confirmation_required');
      await session.respond('call_0', { approved });
      expect((await run.result).message.content.at(-1)).to.deep.equal({
        type: 'text',
        text: approved ? 'done' : 'no',
      });
      expect(await session.respond('call_0', { approved }).catch((error) => error.code)).to.equal(
        'ALREADY_ANSWERED',
      );
    }
  });

  it('that cannot be put is not waited for: its tool fails, and the session is not waiting', async () => {
    const statuses: string[] = [];
    let session: SessionHandle;
    const pay = tool({
      schema: z.object({ cents: z.coerce.bigint() }),
      confirm: true,
      handler: () => 'paid',
    });
    const app = defineApp({
      tools: { pay },
      async *run(turn) {
        yield await turn.callTool('pay', { cents: '5' } as never).catch((error: Error) => error.message);
        statuses.push((await session.status()).status);
      },
    });
    const gateway = embedGateway({ app });
    session = gateway.session('main');
    const { message } = await session.send('x').result;
    expect(message.content.at(-1)).to.deep.equal({ type: 'text', text: 'The tool failed' });
    expect(statuses).to.deep.equal(['running']);
  });

  it('that an app lets go of harms nobody when it cannot be put, and is reported', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const reports: string[] = [];
    const app = defineApp({
      async *run(turn) {
        void turn.ask({ name: 'how', payload: 1n });
        void turn.confirm({ name: 'do', input: 1n });
        void turn.callTool('no such tool' as never, {} as never);
        yield 'on';
      },
    });
    const gateway = embedGateway({ app });
    gateway.on('error', ({ message }) => reports.push(message));
    expect((await gateway.session('main').send('x').result).stopReason).to.equal('end');
    await new Promise(setImmediate);
    process.off('unhandledRejection', note);
    expect(unhandled).to.deep.equal([]);
    expect(reports).to.deep.equal(['session main: turn.ask failed', 'session main: turn.confirm failed']);
  });
});

describe('what an app reports', () => {
  it('progress that is no number is refused where it is reported', async () => {
    const refusals: unknown[] = [];
    const app = defineApp({
      tools: {
        work: tool({
          handler: (_input, { progress }) => {
            for (const value of [1n, '1', Number.NaN, Number.POSITIVE_INFINITY, null, {}]) {
              try {
                progress(value as number);
              } catch (error) {
                refusals.push((error as { code: string }).code);
              }
            }
            progress(1, 2, 'half');
            return 'done';
          },
        }),
      },
      run: (turn) => turn.callTool('work', {}) as Promise<string>,
    });
    const run = embedGateway({ app }).session('main').send('x');
    expect(await eventOf(run, 'tool_progress')).to.include({ value: 1, total: 2, message: 'half' });
    expect((await run.result).stopReason).to.equal('end');
    expect(refusals).to.deep.equal(Array.from({ length: 6 }, () => 'INVALID_PARAMS'));
  });

  it('progress beyond the size of an answer ends its run with run_error, also at its last moment', async () => {
    for (const last of [false, true]) {
      const app = defineApp({
        tools: {
          work: tool({
            handler: async (_input, { progress }) => {
              for (let i = 0; i < 100; i++) {
                progress(i, 100, 'x'.repeat(200));
                if (!last) await new Promise(setImmediate);
              }
              return 'done';
            },
          }),
        },
        async *run(turn) {
          yield 'x'.repeat(last ? 4000 : 1);
          await turn.callTool('work', {});
        },
      });
      const gateway = embedGateway({ app, limits: { answerSize: 4096 } });
      const { stopReason, error } = await gateway.session('main').send('x').result;
      expect({ stopReason, code: error?.code }).to.deep.equal({
        stopReason: 'error',
        code: 'PAYLOAD_TOO_LARGE',
      });
    }
  });

  it('a stop reason that is none is the app’s error, and names those there are', async () => {
    for (const stopReason of ['stop', 1n, {}, 'aborted', '__proto__']) {
      const app = defineApp({ run: () => ({ text: 'x', stopReason: stopReason as never }) });
      const result = await embedGateway({ app }).session('main').send('x').result;
      expect(result.stopReason).to.equal('error');
      expect(result.error).to.include({ code: 'INTERNAL' });
      expect(result.error?.message).to.match(/end, max_tokens, tool_use/);
      expect(result.message.content).to.deep.equal([{ type: 'text', text: 'x' }]);
    }
  });
});
