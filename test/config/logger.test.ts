import { PassThrough } from 'node:stream';
import { expect } from 'chai';
import { lineLogger } from '../../server/config/logger.js';

describe('lines of JSON', () => {
  it('leave out what is undefined, and write all else', () => {
    const out = new PassThrough();
    const details = { traceId: undefined, within: { also: undefined, kept: null, list: [undefined, 1] } };
    lineLogger(out, 'info').warn(details, 'said');
    const { time, ...line } = JSON.parse(String(out.read()));
    expect(Date.parse(time)).to.be.above(0);
    expect(line).to.deep.equal({
      level: 'warn',
      message: 'said',
      within: { kept: null, list: ['undefined', 1] },
    });
  });
});
