import { expect } from 'chai';
import { usageCsv } from '../../server/index.js';

const counts = { calls: 1, inputTokens: 2, outputTokens: 3, cachedInputTokens: 0, reasoningTokens: 0 };

describe('usage as CSV', () => {
  it('keeps odd names, is no formula, and has nothing where a cost is unknown', () => {
    const text = usageCsv([
      { person: 'a "b", c', model: '=1+1', ...counts, cost: 0.5, currency: 'USD' },
      { person: null, model: 'm\n', ...counts, cost: null, currency: null },
    ]);
    expect(text.split('\r\n')).to.deep.equal([
      'person,model,calls,inputTokens,outputTokens,cachedInputTokens,reasoningTokens,cost,currency',
      `"a ""b"", c",'=1+1,1,2,3,0,0,0.5,USD`,
      ',"m\n",1,2,3,0,0,,',
      '',
    ]);
  });
});
