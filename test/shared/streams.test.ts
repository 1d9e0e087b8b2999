import { expect } from 'chai';
import fc from 'fast-check';
import { isGatewayError } from '../../shared/errors.js';
import { encodeLine, LineDecoder } from '../../shared/ndjson.js';
import { encodeSse, SseDecoder } from '../../shared/sse.js';

const text = fc.string({ unit: 'grapheme', maxLength: 30 });
const awkward = fc.constantFrom(
  '\r',
  '\n',
  '\r\n',
  '\u2028',
  '\u0000',
  '"',
  '\\',
  'data: x',
  '\n\nevent: evil\n',
  '😀',
  '\ud83d',
  '\uFEFF',
);
const value = fc.array(fc.oneof(text, awkward), { maxLength: 6 }).map((parts) => ({ text: parts.join('') }));

/** The bytes, in pieces that may end within a character. */
function pieces(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes.length === 0 ? bytes.length : sizes[i % sizes.length]!;
    parts.push(bytes.subarray(at, at + size));
    at += size;
  }
  return parts;
}
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 8 });
const bytesOf = (written: string): Uint8Array => new TextEncoder().encode(written);

describe('lines of JSON', () => {
  it('are read as they were written, wherever the bytes are split', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 8 }), sizes, (values, cuts) => {
        const decoder = new LineDecoder(10_000);
        const read = pieces(bytesOf(values.map(encodeLine).join('')), cuts).flatMap((piece) => [
          ...decoder.feed(piece),
        ]);
        expect(read.map((line) => JSON.parse(line))).to.deep.equal(values);
      }),
    );
  });

  it('may end in CRLF and be empty', () => {
    const decoder = new LineDecoder(100);
    expect([...decoder.feed(bytesOf('\r\n{"a":1}\r\n\n\n{"b":2}\n{"c"'))].filter(Boolean)).to.deep.equal([
      '{"a":1}',
      '{"b":2}',
    ]);
    expect([...decoder.feed(bytesOf(':3}\n'))]).to.deep.equal(['{"c":3}']);
  });

  it('are bounded in bytes before their newline comes', () => {
    const fits = new LineDecoder(6);
    expect([...fits.feed(bytesOf('"äö"\n'))]).to.deep.equal(['"äö"']);
    const decoder = new LineDecoder(6);
    expect([...decoder.feed(bytesOf('"äö'))]).to.deep.equal([]);
    expect(codeOf(() => [...decoder.feed(bytesOf('ü"'))])).to.equal('PAYLOAD_TOO_LARGE');
  });

  it('must be UTF-8', () => {
    const decoder = new LineDecoder(100);
    expect(codeOf(() => [...decoder.feed(new Uint8Array([0x22, 0xff, 0x22, 0x0a]))])).to.equal(
      'INVALID_REQUEST',
    );
  });
});

describe('server-sent events', () => {
  it('are read as they were written, wherever the bytes are split', () => {
    const id = fc.option(fc.stringMatching(/^[A-Za-z0-9_.~=,-]{1,30}$/), { nil: undefined });
    fc.assert(
      fc.property(
        fc.array(fc.record({ event: fc.stringMatching(/^[A-Za-z0-9_.:-]{1,20}$/), data: value, id }), {
          maxLength: 8,
        }),
        sizes,
        (events, cuts) => {
          const written = events
            .map(({ event, data, id: own }) => encodeSse(event, JSON.stringify(data), own))
            .join('');
          const decoder = new SseDecoder();
          const read = pieces(bytesOf(written), cuts).flatMap((piece) => [...decoder.feed(piece)]);
          expect(
            read.map(({ event, data, id: own }) => ({ event, data: JSON.parse(data), id: own })),
          ).to.deep.equal(events);
        },
      ),
    );
  });

  it('refuse a name that could forge another event', () => {
    for (const name of ['', 'a b', 'a\nid: 1', 'ä', 'x'.repeat(129), 'a\r']) {
      expect(codeOf(() => encodeSse(name, '{}'))).to.equal('INVALID_REQUEST');
    }
  });

  it('tell the last retry, and skip comments', () => {
    const decoder = new SseDecoder();
    expect([...decoder.feed(bytesOf(': hello\n\nretry: 1500\n\nevent: a\ndata: 1\n\n'))]).to.have.length(1);
    expect(decoder.retryMs).to.equal(1500);
  });

  it('may end their lines in CR, LF or CRLF, wherever the bytes are split', () => {
    const ends = fc.constantFrom('\r', '\n', '\r\n');
    fc.assert(
      fc.property(fc.array(ends, { minLength: 8, maxLength: 8 }), sizes, (eol, cuts) => {
        const lines = ['event: a', 'data: 1', 'data:2', '', 'id: x', 'data', '', ': over'];
        const written = lines.map((line, i) => line + eol[i]).join('');
        // A CR and the LF of an empty line after it would be one line end.
        fc.pre(!lines.some((line, i) => line === '' && eol[i] === '\n' && eol[i - 1] === '\r'));
        const decoder = new SseDecoder();
        const read = pieces(bytesOf(written), cuts).flatMap((piece) => [...decoder.feed(piece)]);
        expect(read).to.deep.equal([
          { event: 'a', data: '1\n2' },
          { event: 'message', data: '', id: 'x' },
        ]);
      }),
    );
  });

  it('bound what is not yet complete', () => {
    const decoder = new SseDecoder(100);
    expect(codeOf(() => [...decoder.feed(bytesOf(`data: ${'x'.repeat(200)}`))])).to.equal(
      'PAYLOAD_TOO_LARGE',
    );
  });
});

function codeOf(call: () => unknown): string | undefined {
  try {
    call();
  } catch (error) {
    return isGatewayError(error) ? error.code : 'another error';
  }
  return undefined;
}
