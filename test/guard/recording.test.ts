import { expect } from 'chai';
import { type RecordedTurn, recording } from '../../server/features/recording/index.js';
import { defineApp, memoryStore, tool } from '../../server/index.js';
import { startGateway } from '../support/gateway.js';

const SECRET = 'sk-live-4242';

describe('the recording of a guarded app', () => {
  const record = async (said: string): Promise<RecordedTurn> => {
    const turns: RecordedTurn[] = [];
    const app = defineApp({
      guard: { check: (text) => (text.includes(SECRET) ? { replace: '[key]' } : 'pass') },
      tools: { look: tool({ handler: () => said }) },
      async *run(turn) {
        yield String(await turn.callTool('look', {}));
        yield '!';
      },
    });
    const recorded = recording(app, { to: (turn) => void turns.push(turn) });
    const { gateway } = await startGateway({ app: recorded, store: memoryStore() });
    await (await gateway.session('main').send('hello')).result;
    return turns[0]!;
  };

  it('has the answer as the guard let it through, and no call that may have brought the rest', async () => {
    const { answer, calls } = await record(`it is ${SECRET}`);
    expect(answer).to.equal('[key]');
    expect(calls).to.deep.equal([]);
  });

  it('is whole if the guard let all of it through', async () => {
    const { answer, calls } = await record('nothing');
    expect(answer).to.equal('nothing!');
    expect(calls.map(({ kind, output }) => [kind, output])).to.deep.equal([['tool', 'nothing']]);
  });
});
