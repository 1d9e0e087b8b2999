import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import fc from 'fast-check';
import { defineApp } from '../../server/index.js';
import { LogBatch } from '../../server/log/batch.js';
import { answeringAfter, type OpenAnswer } from '../../server/log/open-answer.js';
import type { StoredEvent } from '../../server/stores/stored.js';
import { frameForm } from '../../server/transports/frames/frame-wire.js';
import { SSE_FORMS } from '../../server/transports/http/sse-sink.js';
import { EventReader } from '../../shared/event-reader.js';
import type { LoggedEventType } from '../../shared/events.js';
import { gate } from '../support/gate.js';
import { jsonHeaders, post, startGateway, TOKEN } from '../support/gateway.js';
import { closeAll, closeLater } from '../support/resources.js';
import { socketDirectory } from '../support/socket-directory.js';
import { openStream, RawReader } from '../support/sse-client.js';

const EPOCH = 'AAAAAAAAAAA';
const ORIGIN = { sessionId: 'main', epoch: EPOCH };

interface Spec {
  readonly kind: 'start' | 'text' | 'reasoning' | 'queued' | 'channel' | 'old';
  readonly run: number;
  readonly index: number;
}

/** A log of these events, with bodies as sessions write them, and some as others might. */
function logOf(specs: readonly Spec[]): StoredEvent[] {
  return specs.map(({ kind, run, index }, at): StoredEvent => {
    const runId = kind === 'channel' ? undefined : `run_${run}`;
    const bodies: Record<Spec['kind'], [LoggedEventType, object]> = {
      start: ['message_start', { runId, ts: at, messageId: 'm', app: 'a' }],
      text: ['content_delta', { runId, ts: at, delta: ',"index":0}', index }],
      reasoning: ['reasoning_delta', { runId, ts: at, delta: `r${at}`, index }],
      // Written by another hand: other order, more fields.
      old: ['content_delta', { ts: at, delta: 'x', index, runId, more: true }],
      queued: ['tool_result', { runId, ts: at, callId: 'c', name: 'n', output: 1, isError: false }],
      channel: ['channel', { ts: at, channel: 'c', event: { type: 't', payload: '{"runId":"run_9",' } }],
    };
    const [type, data] = bodies[kind];
    return { seq: at + 1, term: 1 + Math.floor(at / 7), type, ts: at, runId, body: JSON.stringify(data) };
  });
}

const whole = ({ type, term, seq, body }: StoredEvent) => ({
  type,
  sessionId: 'main',
  cursor: `${EPOCH}.${term}.${seq}`,
  ...JSON.parse(body),
});

const SPEC: fc.Arbitrary<Spec> = fc.record({
  kind: fc.constantFrom('start', 'text', 'text', 'text', 'reasoning', 'queued', 'channel', 'old'),
  run: fc.nat(2),
  index: fc.nat(2),
});

describe('what the wire leaves out', () => {
  const lines = frameForm((texts) => `${texts.join('\n')}\n`);
  const readFrames = (reader: EventReader, text: string) =>
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ event, data, id }) => reader.read(event, data, id));
  const readStream = (reader: EventReader, bytes: Uint8Array) =>
    new RawReader().feed(bytes).map(({ event, wire, id }) => reader.read(event, wire, id));
  const doors = [
    { name: 'frames', form: lines, read: readFrames },
    { name: 'a stream of one session', form: SSE_FORMS.cursor.text, read: readStream },
    { name: 'a stream of several', form: SSE_FORMS.vector.text, read: readStream },
  ] as const;

  for (const { name, form, read } of doors as readonly { name: string; form: any; read: any }[]) {
    it(`is read back from ${name}, wherever a reader begins and however events are joined`, () => {
      fc.assert(
        fc.property(
          fc.array(SPEC, { minLength: 1, maxLength: 30 }),
          fc.infiniteStream(fc.integer({ min: 1, max: 4 })),
          fc.nat(29),
          fc.infiniteStream(fc.boolean()),
          (specs, sizes, start, shares) => {
            const log = logOf(specs);
            const from = Math.min(start, log.length - 1);
            const reader = new EventReader();
            const seen: unknown[] = [];
            let known: OpenAnswer | null = null;
            let written: OpenAnswer | null = null;
            for (let at = 0; at < log.length; ) {
              const events = log.slice(at, at + sizes.next().value!);
              at += events.length;
              const batch: LogBatch = new LogBatch(EPOCH, events, written);
              if (batch.tells !== undefined) written = batch.tells;
              const mine = events.filter(({ seq }) => seq > from);
              if (mine.length === 0) continue;
              // As a subscription does: a shared batch where its reader can take that, a page of its own otherwise.
              const canShare = mine.length === events.length && shares.next().value;
              if (canShare && (!batch.needs || batch.needs === known)) {
                seen.push(...read(reader, batch.payload(form, 'main')));
              } else seen.push(...read(reader, form.events(mine, ORIGIN, known)));
              if (canShare && batch.tells !== undefined) known = batch.tells;
              else for (const event of mine) known = answeringAfter(event, known);
            }
            expect(seen).to.deep.equal(log.slice(from).map(whole));
          },
        ),
        { numRuns: 500 },
      );
    });
  }

  it('is written into the data that were read, unless they are frozen', () => {
    const reader = new EventReader();
    reader.read(
      'message_start',
      { sessionId: 'a', runId: 'r', ts: 1, messageId: 'm', app: 'a' },
      `${EPOCH}.1.4`,
    );
    const data = { ts: 1, delta: 'x' };
    const whole = {
      type: 'content_delta',
      sessionId: 'a',
      cursor: `${EPOCH}.1.5`,
      runId: 'r',
      index: 0,
      ...data,
    };
    expect(reader.read('content_delta', Object.freeze({ ...data }), `${EPOCH}.1.5`)).to.deep.equal(whole);
    expect(reader.read('content_delta', data, `${EPOCH}.1.5`)).to.equal(data);
    expect(data).to.deep.equal(whole);
    expect(reader.read('of_tomorrow', null)).to.deep.equal({ type: 'of_tomorrow' });
  });

  it('is told of several sessions apart, and anew for the next conversation of one', () => {
    const reader = new EventReader();
    const delta = (epoch: string, data: object) =>
      reader.read('content_delta', { ts: 1, delta: 'x', ...data }, `${epoch}.1.5`);
    const start = (sessionId: string, epoch: string, runId: string) =>
      reader.read('message_start', { sessionId, runId, ts: 1, messageId: 'm', app: 'a' }, `${epoch}.1.4`);
    start('a', 'AAAAAAAAAAA', 'run_a');
    start('b', 'BBBBBBBBBBB', 'run_b');
    expect(delta('AAAAAAAAAAA', {})).to.include({ sessionId: 'a', runId: 'run_a', index: 0 });
    expect(delta('BBBBBBBBBBB', { index: 3 })).to.include({ sessionId: 'b', runId: 'run_b', index: 3 });
    expect(delta('BBBBBBBBBBB', {})).to.include({ sessionId: 'b', runId: 'run_b', index: 3 });
    start('a', 'CCCCCCCCCCC', 'run_c');
    expect(delta('CCCCCCCCCCC', {})).to.include({ sessionId: 'a', runId: 'run_c', index: 0 });
  });
});

describe('bytes on the wire', () => {
  afterEach(closeAll);

  const DELTA = 'sixty bytes of an answer, as models like to write them down.';
  const MANY = 40;

  /** An app whose deltas leave one by one, after a reasoning block, so that their index is not 0. */
  async function start() {
    const steps = gate();
    const socketPath = `${socketDirectory()}/g.sock`;
    const app = defineApp({
      async *run() {
        yield { type: 'reasoning_delta', delta: 'Let me think.' };
        await steps.passed;
        for (let n = 0; n < MANY; n++) {
          yield DELTA;
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
    });
    return { ...(await startGateway({ app, socketPath })), socketPath, go: steps.open };
  }

  /** What a reader was sent until the run had ended. */
  async function received(port: number | string, hello: string, ready: RegExp, act: () => Promise<void>) {
    const socket = closeLater(typeof port === 'string' ? connect(port) : connect(port, '127.0.0.1'), (it) =>
      it.destroy(),
    );
    let bytes = '';
    let wake = () => {};
    socket.on('data', (chunk) => {
      bytes += chunk.toString('latin1');
      wake();
    });
    const until = async (pattern: RegExp) => {
      while (!pattern.test(bytes)) await new Promise<void>((resolve) => (wake = resolve));
    };
    await once(socket, 'connect');
    socket.write(hello, 'latin1');
    await until(ready);
    await act();
    await until(/message_end/);
    return bytes;
  }

  /** Bytes of each delta with its framing, but for the first, which tells of what block it is: what lies between the beginnings of two. */
  function costs(bytes: string, beginning: RegExp): number[] {
    const at = [...bytes.matchAll(beginning)].map(({ index }) => index);
    expect(at.length).to.equal(MANY);
    return at.slice(2).map((place, n) => place - at[n + 1]!);
  }

  it('a delta of 60 bytes costs at most 150 on Server-Sent Events, with its chunk', async () => {
    expect(DELTA.length).to.equal(60);
    const { url, go } = await start();
    const hello = `GET /events?sessionId=main HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${TOKEN}\r\n\r\n`;
    const bytes = await received(Number(new URL(url).port), hello, /event: heartbeat/, async () => {
      void post(`${url}/send`, { sessionId: 'main', message: 'go' });
      go();
    });
    const each = costs(bytes, /(?:[0-9a-f]+\r\n)?event: content_delta/g);
    expect(Math.max(...each)).to.be.at.most(150);
  });

  it('… at most 165 as a frame of a WebSocket', async () => {
    const { url, go } = await start();
    const frame = (text: string): string => {
      // Masked with zeros (RFC 6455, section 5.3).
      expect(text.length).to.be.within(126, 65_535);
      return `\x81\xfe${String.fromCharCode(text.length >> 8, text.length & 255)}\0\0\0\0${text}`;
    };
    const hello = [
      ...['GET /ws HTTP/1.1', 'Host: 127.0.0.1', 'Connection: Upgrade', 'Upgrade: websocket'],
      ...['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', '', ''],
    ].join('\r\n');
    const protocol = { min: 1, max: 1 };
    const introduction = { type: 'connect', protocol, token: TOKEN, subscribe: [{ sessionId: 'main' }] };
    const bytes = await received(
      Number(new URL(url).port),
      hello + frame(JSON.stringify(introduction).padEnd(130)),
      /"heartbeat"/,
      async () => {
        void post(`${url}/send`, { sessionId: 'main', message: 'go' });
        go();
      },
    );
    expect(Math.max(...costs(bytes, /\x81~..\{"event":"content_delta"/gs))).to.be.at.most(165);
  });

  it('… at most 165 as a line of a Unix socket', async () => {
    const { url, socketPath, go } = await start();
    const hello = {
      type: 'connect',
      protocol: { min: 1, max: 1 },
      token: TOKEN,
      subscribe: [{ sessionId: 'main' }],
    };
    const bytes = await received(socketPath, `${JSON.stringify(hello)}\n`, /"heartbeat"/, async () => {
      void post(`${url}/send`, { sessionId: 'main', message: 'go' });
      go();
    });
    expect(Math.max(...costs(bytes, /\{"event":"content_delta"/g))).to.be.at.most(165);
  });

  it('a stream that begins in the middle of an answer says whose it is, once', async () => {
    const { url, go } = await start();
    void post(`${url}/send`, { sessionId: 'main', message: 'go' });
    const first = await openStream(`${url}/events?sessionId=main&from=earliest`, { headers: jsonHeaders() });
    await first.until(({ event }) => event === 'reasoning_delta');
    const late = await openStream(`${url}/events?sessionId=main`, { headers: jsonHeaders() });
    await late.until(({ event }) => event === 'heartbeat');
    go();
    await Promise.all([first, late].map((it) => it.until(({ event }) => event === 'message_end')));
    const deltas = late.events.filter(({ event }) => event === 'content_delta');
    expect(deltas[0]!.wire).to.include.keys('sessionId', 'runId', 'index');
    expect(deltas[1]!.wire).to.have.all.keys('ts', 'delta');
    expect(deltas.map(({ data }) => data)).to.deep.equal(
      first.events.filter(({ event }) => event === 'content_delta').map(({ data }) => data),
    );
  });
});
