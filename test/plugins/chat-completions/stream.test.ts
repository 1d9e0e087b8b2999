import { once } from 'node:events';
import { connect } from 'node:net';
import { expect } from 'chai';
import compression from 'compression';
import express from 'express';
import { gatewayMiddleware } from '../../../server/index.js';
import { chatCompletionsPlugin } from '../../../server/plugins/chat-completions/index.js';
import { expiringToken } from '../../support/expiring-token.js';
import { gate } from '../../support/gate.js';
import { get } from '../../support/gateway.js';
import { closeLater } from '../../support/resources.js';
import { as, byName } from '../../support/users.js';
import { recalling, runs, says, startChat, tools } from './fixtures.js';

/** An app that says something and then works until it is aborted. */
function working() {
  const began = gate();
  const aborted = gate<string>();
  const app = runs(async function* (turn) {
    yield 'working';
    began.open();
    await new Promise<void>((resolve) => turn.signal.addEventListener('abort', () => resolve()));
    aborted.open((turn.signal.reason as Error).message);
  });
  return { app, began, aborted };
}

/** Reads a body up to some text. */
async function readTo(response: Response, text: string): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let seen = '';
  while (!seen.includes(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`ended after ${seen}`);
    seen += decoder.decode(value, { stream: true });
  }
  return reader;
}

describe('the stream of a completion', () => {
  it('begins at once and brings each piece as it is said', async () => {
    const held = gate();
    const app = runs(async function* () {
      await held.passed;
      yield 'said';
    });
    const { ask } = await startChat({ app });
    const response = await ask(says('Hi', { stream: true }));
    const reader = await readTo(response, '"role":"assistant"');
    held.open();
    reader.releaseLock();
    await readTo(response, '[DONE]');
  });

  it('keeps quiet streams open with comments that clients skip', async () => {
    const held = gate();
    const app = runs(async function* () {
      await held.passed;
      yield 'said';
    });
    const { ask, client } = await startChat({ app, limits: { heartbeatMs: 5 } });
    const response = await ask(says('Hi', { stream: true }));
    const asked = client()
      .chat.completions.stream(says('Hi', { stream: true }))
      .finalContent();
    (await readTo(response, ':\n\n:\n\n')).releaseLock();
    held.open();
    expect(await asked).to.equal('said');
    await readTo(response, '[DONE]');
  });

  for (const stream of [true, false]) {
    for (const headers of [{}, { 'x-session-id': 'kept' }]) {
      const kept = Object.keys(headers).length > 0;
      it(`that is left aborts its run: ${stream ? 'chunks' : 'at once'}, ${kept ? 'kept' : 'own'} session`, async () => {
        const { app, began, aborted } = working();
        const { ask, gateway, url } = await startChat({ app });
        const ended = gate();
        gateway.on(kept ? 'run:ended' : 'session:closed', () => ended.open());
        const leaving = new AbortController();
        const asked = ask(says('Hi', { stream }), { headers, signal: leaving.signal });
        asked.catch(() => {});
        await began.passed;
        if (stream) await readTo(await asked, 'working');
        leaving.abort();
        expect(await aborted.passed).to.not.equal('');
        await ended.passed;
        const { body } = await get(`${url}/sessions`, as('alice'));
        expect(body.sessions.map(({ sessionId }: any) => sessionId)).to.deep.equal(kept ? ['kept'] : []);
      });
    }
  }

  it('that is left while its message waits in line takes the message out', async () => {
    const { app, began } = working();
    const { ask, url, gateway } = await startChat({ app });
    const headers = { 'x-session-id': 'kept' };
    const first = new AbortController();
    ask(says('first', { stream: true }), { headers, signal: first.signal }).catch(() => {});
    await began.passed;
    const second = new AbortController();
    const response = await ask(says('second', { stream: true }), { headers, signal: second.signal });
    await readTo(response, 'assistant');
    const ended = gate();
    gateway.on('run:ended', () => ended.open());
    second.abort();
    await ended.passed;
    const { body } = await get(`${url}/status?sessionId=kept`, as('alice'));
    expect(body).to.include({ status: 'running', queued: 0 });
    first.abort();
  });

  it('is cut when its reader has stopped and does not go on, and its run aborted', async () => {
    const aborted = gate();
    const app = runs(async function* (turn) {
      turn.signal.addEventListener('abort', () => aborted.open());
      for (let said = 0; said < 1000; said++) yield 'x'.repeat(16 * 1024);
      await new Promise(() => {});
    });
    const { url } = await startChat({ app, limits: { slowClientMs: 100 } });
    const { hostname, port } = new URL(url);
    const socket = closeLater(connect(Number(port), hostname), (it) => it.destroy());
    const body = JSON.stringify(says('Go', { stream: true }));
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer alice\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await once(socket, 'readable');
    socket.pause();
    await aborted.passed;
  });

  it('passes hosts that compress and parse bodies before us', async () => {
    const held = gate();
    const app = runs(async function* () {
      yield 'first';
      await held.passed;
      yield 'second';
    });
    const router = gatewayMiddleware({ app, auth: byName, logger: { warn() {}, error() {} } });
    router.gateway.use(chatCompletionsPlugin());
    closeLater(router.gateway, (it) => it.close());
    const host = express()
      .use(compression({ threshold: 0 }), express.json())
      .use('/agent', router);
    const server = closeLater(host.listen(0, '127.0.0.1'), (it) => it.close());
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const response = await fetch(`http://127.0.0.1:${port}/agent/v1/chat/completions`, {
      method: 'POST',
      headers: { ...as('alice'), 'content-type': 'application/json', 'accept-encoding': 'gzip' },
      body: JSON.stringify(says('Hi', { stream: true })),
    });
    expect(response.headers.get('content-encoding')).to.equal(null);
    const reader = await readTo(response, 'first');
    reader.releaseLock();
    held.open();
    await readTo(response, '[DONE]');
  });

  it('of a gateway that closes ends with an error, not in the air', async () => {
    const { app, began } = working();
    const { ask, gateway } = await startChat({ app, limits: { drainMs: 20 } });
    const response = await ask(says('Hi', { stream: true }));
    await began.passed;
    const [text] = await Promise.all([response.text(), gateway.close()]);
    const last = text.trim().split('\n\n').at(-1)!;
    expect(JSON.parse(last.slice('data: '.length)).error.code).to.equal('shutting_down');
  });

  it('ends when its caller’s key expires', async () => {
    const began = gate();
    const app = runs(async function* (turn) {
      yield 'working';
      began.open();
      await new Promise<void>((resolve) => turn.signal.addEventListener('abort', () => resolve()));
    });
    const { auth, limits, expire } = expiringToken();
    const { ask } = await startChat({ app, auth, limits });
    const response = await ask(says('Hi', { stream: true }));
    await began.passed;
    expire();
    const last = (await response.text()).trim().split('\n\n').at(-1)!;
    expect(JSON.parse(last.slice('data: '.length)).error.code).to.equal('invalid_api_key');
  });

  it('carries calls and text of concurrent users to each alone', async () => {
    const { client } = await startChat({ app: recalling });
    const answers = await Promise.all(
      Array.from({ length: 30 }, async (_, n) => {
        const stream = client(`user${n}`).chat.completions.stream(
          says(`mine ${n}`, { stream: true, tools: tools('a') }),
        );
        return stream.finalContent();
      }),
    );
    expect(answers).to.deep.equal(answers.map((_, n) => `user:mine ${n}`));
  });
});
