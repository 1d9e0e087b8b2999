import { expect } from 'chai';
import { defineApp, tool } from '../../server/index.js';
import { isGatewayError } from '../../shared/errors.js';
import { connectClient } from '../support/client.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { TestLogger } from '../support/gateway.js';

/** An app that asks and is not resumable. */
const asking = defineApp({
  tools: { remove: tool({ confirm: true, handler: () => 'removed' }) },
  async *run(turn) {
    if (turn.text === 'tool') yield await turn.callTool('remove', {});
    yield String(await turn.ask({ name: 'who' }));
  },
});

describe('an app that asks and is not resumable', () => {
  for (const text of ['tool', 'question'])
    it(`has its answer refused after a restart by words that say so (${text})`, async () => {
      const path = newDatabase();
      const first = await startDurable(path, { app: asking });
      let callId = '';
      for await (const event of connectClient(first.url).send('main', text)) {
        if (event.type !== 'tool_confirmation_required' && event.type !== 'input_required') continue;
        callId = event.callId;
        break;
      }
      const second = await startDurable(crashed(path), { app: asking });
      const session = connectClient(second.url).session('main');
      const answered = (id: string) =>
        session.respond(id, { approved: true, output: 'Ada' }).catch((error: unknown) => error);
      const error = await answered(callId);
      if (!isGatewayError(error)) throw error;
      expect([error.code, error.details]).to.deep.equal(['CALL_NOT_FOUND', { stopReason: 'lost' }]);
      expect(error.message).to.match(/lost/);
      const other = await answered('another');
      expect(isGatewayError(other) && [other.code, other.details]).to.deep.equal([
        'CALL_NOT_FOUND',
        undefined,
      ]);
    });

  it('says so once at the start, where a store would keep its runs', async () => {
    const lines = async (config: object, path?: string): Promise<string[]> => {
      const logger = new TestLogger();
      await startDurable(path ?? newDatabase(), { logger, ...config });
      return logger.lines.map(({ message }) => message).filter((message) => /resumable/.test(message));
    };
    expect(await lines({ app: asking })).to.have.length(1);
    expect(await lines({ app: { ...asking, resumable: true } })).to.deep.equal([]);
    expect(await lines({ app: defineApp({ run: () => 'hello' }) })).to.deep.equal([]);
  });
});

describe('an answer that was given before a restart', () => {
  for (const text of ['tool', 'question'])
    it(`is refused as given, when it comes again (${text})`, async () => {
      const path = newDatabase();
      const resumable = { ...asking, resumable: true };
      const first = await startDurable(path, { app: resumable });
      const run = connectClient(first.url).send('main', text);
      const calls: string[] = [];
      const answer = { approved: true, output: { callId: 'another' } };
      for await (const event of run) {
        if (event.type !== 'tool_confirmation_required' && event.type !== 'input_required') continue;
        calls.push(event.callId);
        await connectClient(first.url).session('main').respond(event.callId, answer);
      }
      const second = await startDurable(crashed(path), { app: resumable });
      const session = connectClient(second.url).session('main');
      for (const [callId, code] of [
        ...calls.map((id) => [id, 'ALREADY_ANSWERED'] as const),
        // An answer that has such words is not one to such a call.
        ['another', 'CALL_NOT_FOUND'] as const,
      ]) {
        const error = await session.respond(callId, answer).catch((error: unknown) => error);
        expect(isGatewayError(error) && error.code, callId).to.equal(code);
      }
    });
});
