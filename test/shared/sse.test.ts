import { expect } from 'chai';
import { SseDecoder } from '../../shared/sse.js';

const bytes = (text: string) => new TextEncoder().encode(text);

const decode = (...chunks: string[]) => {
  const decoder = new SseDecoder();
  const events = chunks.flatMap((chunk) => [...decoder.feed(bytes(chunk))]);
  return { events, retryMs: decoder.retryMs };
};

describe('SseDecoder', () => {
  it('keeps what is not complete, and ignores what is no field or no number', () => {
    expect(decode('data: x\n').events).to.deep.equal([]);
    expect(decode('__proto__: x\nother: y\nretry: soon\ndata: z\n\n')).to.deep.equal({
      events: [{ event: 'message', data: 'z' }],
      retryMs: undefined,
    });
  });

  it('bounds an event that does not end, as one line and as many', () => {
    for (const line of ['x'.repeat(10), 'data: xxx\n']) {
      const decoder = new SseDecoder(25);
      const read = () => [...decoder.feed(bytes(line))];
      read();
      read();
      expect(() => {
        for (let i = 0; i < 8; i++) read();
      })
        .to.throw()
        .with.property('code', 'PAYLOAD_TOO_LARGE');
    }
    const decoder = new SseDecoder(25);
    for (let i = 0; i < 20; i++) expect([...decoder.feed(bytes('data: 0123456789\n\n'))]).to.have.length(1);
  });
});
