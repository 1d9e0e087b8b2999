import { expect } from 'chai';
import OpenAI from 'openai';
import { GatewayError } from '../../../server/index.js';
import { failure } from '../../support/client.js';
import { gate } from '../../support/gate.js';
import { alone, preflight } from '../../support/gateway.js';
import { dataOf, recalling, runs, says, startChat } from './fixtures.js';
import { expectShape } from './schemas.js';

describe('errors of chat completions', () => {
  it('are the openai client’s own classes', async () => {
    const { client } = await startChat({ app: recalling, limits: { sendsPerSecond: 1 }, ...alone() });
    const create = (body: object, user?: string) =>
      failure(client(user).chat.completions.create(body as any));
    const unknown = await create(says('Hi'), 'bad key');
    expect(unknown).to.be.instanceOf(OpenAI.AuthenticationError);
    expect(unknown).to.include({ status: 401, code: 'invalid_api_key' });
    expect(await failure(client('bad').models.list())).to.be.instanceOf(OpenAI.AuthenticationError);
    const missing = await create(says('Hi', { model: 'gpt-x' }));
    expect(missing).to.be.instanceOf(OpenAI.NotFoundError);
    expect(missing).to.include({ code: 'model_not_found', param: 'model', type: 'invalid_request_error' });
    const wrong = await create(says('Hi', { temperature: 'hot' }));
    expect(wrong).to.be.instanceOf(OpenAI.BadRequestError);
    expect(wrong).to.include({ param: 'temperature', code: 'invalid_type' });
    const limited = await failure(
      Promise.all(Array.from({ length: 5 }, () => client().chat.completions.create(says('Hi')))),
    );
    expect(limited).to.be.instanceOf(OpenAI.RateLimitError);
    expect(limited).to.include({ code: 'rate_limit_exceeded' });
    expect(Number(limited.headers.get('retry-after'))).to.be.above(0);
    expect(limited.headers.get('x-should-retry')).to.equal(null);
  });

  it('name the field that is wrong', async () => {
    const { ask } = await startChat({ app: recalling });
    const message = (content: unknown) => ({ model: 'default', messages: [{ role: 'user', content }] });
    const cases: [unknown, string | null, string | null][] = [
      [{ messages: [{ role: 'user', content: 'Hi' }] }, 'model', 'missing_required_parameter'],
      [{ model: 'default' }, 'messages', 'missing_required_parameter'],
      [{ model: 'default', messages: [] }, 'messages', 'invalid_value'],
      [says('Hi', { n: 2 }), 'n', 'unsupported_value'],
      [says('Hi', { stop: 3 }), 'stop', 'invalid_type'],
      [says('Hi', { max_tokens: 0 }), 'max_tokens', 'invalid_value'],
      [says('Hi', { stream: 'yes' }), 'stream', 'invalid_type'],
      [
        says('Hi', { tools: [{ type: 'function', function: {} }] }),
        'tools[0].function.name',
        'missing_required_parameter',
      ],
      [says('Hi', { tool_choice: 'sometimes' }), 'tool_choice', 'invalid_type'],
      [says('Hi', { response_format: 'json' }), 'response_format', 'invalid_type'],
      [message(5), 'messages[0].content', 'invalid_type'],
      [
        message([{ type: 'image_url', image_url: {} }]),
        'messages[0].content[0].image_url.url',
        'missing_required_parameter',
      ],
      [message([{ type: 'file', file: { filename: 'f' } }]), 'messages[0].content[0].file', null],
      [{ model: 'default', messages: [{ role: 'wizard', content: '' }] }, 'messages[0].role', 'invalid_type'],
      [[], null, null],
    ];
    for (const [body, param, code] of cases) {
      const response = await ask(body as object);
      const { error } = expectShape('error', await response.json());
      expect([response.status, error.param, error.code], JSON.stringify(body)).to.deep.equal([
        400,
        param,
        code,
      ]);
      expect(response.headers.get('x-should-retry')).to.equal(null);
    }
  });

  it('have the vendor’s shape whatever goes wrong before the app is asked', async () => {
    const { ask, baseURL } = await startChat({
      app: recalling,
      limits: { bodyBytes: 1000, conversationBytes: 1000 },
    });
    const headers = { authorization: 'Bearer alice' };
    const shown = async (response: Response) => {
      const { error } = expectShape('error', await response.json());
      return [response.status, error.code];
    };
    expect(await shown(await ask('{"model"'))).to.deep.equal([400, null]);
    expect(await shown(await ask(says('x'.repeat(2000))))).to.deep.equal([413, 'payload_too_large']);
    const typed = await ask(says('Hi'), { headers: { 'content-type': 'text/plain' } });
    expect(await shown(typed)).to.deep.equal([415, 'unsupported_media_type']);
    const wrong = await fetch(`${baseURL}/chat/completions`, { headers });
    expect(wrong.headers.get('allow')).to.equal('POST');
    expect(await shown(wrong)).to.deep.equal([405, 'method_not_allowed']);
    expect(
      await shown(await fetch(`${baseURL}/chat/completions/x`, { method: 'POST', headers })),
    ).to.deep.equal([404, 'route_not_found']);
    for (const [method, path] of [
      ['POST', '/embeddings'],
      ['GET', '/files/f_1'],
      ['DELETE', '/chat'],
      ['GET', ''],
    ] as const) {
      const unknown = await fetch(`${baseURL}${path}`, { method, headers });
      expect(await shown(unknown), path).to.deep.equal([404, 'route_not_found']);
    }
    const foreign = await ask(says('Hi'), { headers: { origin: 'https://evil.test' } });
    expect(await shown(foreign)).to.deep.equal([403, 'origin_denied']);
  });

  it('are 503 while the gateway drains', async () => {
    const held = gate();
    const began = gate();
    const app = runs(async () => {
      began.open();
      await held.passed;
    });
    const { ask, gateway } = await startChat({ app, limits: { drainMs: 10_000 } });
    const first = ask(says('Hi'));
    await began.passed;
    const closing = gateway.close();
    const response = await ask(says('Hi'));
    expect(response.status).to.equal(503);
    expect(Number(response.headers.get('retry-after'))).to.be.above(0);
    expect(expectShape('error', await response.json()).error).to.include({
      type: 'server_error',
      code: 'shutting_down',
    });
    held.open();
    expect((await first).status).to.equal(200);
    await closing;
  });

  it('of the app are not retried, and tell nothing of its inside', async () => {
    let calls = 0;
    const app = runs(async (turn) => {
      calls += 1;
      if (turn.text === 'own') throw new GatewayError({ code: 'TEAPOT', message: 'Short and stout' });
      throw new Error('secret text');
    });
    const { client, ask, log } = await startChat({ app });
    const error = await failure(client('alice', { maxRetries: 2 }).chat.completions.create(says('Hi')));
    expect(error).to.be.instanceOf(OpenAI.InternalServerError);
    expect(error.message).not.to.contain('secret');
    expect(calls).to.equal(1);
    expect(log.lines.some(({ details }) => String((details as any).err).includes('secret'))).to.equal(true);
    const own = await ask(says('own'));
    expect([own.status, own.headers.get('x-should-retry')]).to.deep.equal([500, 'false']);
    expect(expectShape('error', await own.json()).error).to.deep.equal({
      message: 'Short and stout',
      type: 'server_error',
      param: null,
      code: 'teapot',
    });
  });

  it('in the middle of a stream are its last event', async () => {
    const app = runs(async function* () {
      yield 'So far';
      throw new Error('secret text');
    });
    const { ask, client } = await startChat({ app });
    const response = await ask(says('Hi', { stream: true }));
    expect(response.status).to.equal(200);
    const data = await dataOf(response);
    const { error } = expectShape('error', JSON.parse(data.pop()!));
    expect(error).to.include({ type: 'server_error' });
    for (const text of data) expectShape('chunk', JSON.parse(text));
    expect(data.join('')).to.contain('So far').and.not.contain('secret');
    const stream = await client().chat.completions.create({ ...says('Hi'), stream: true });
    const thrown = await failure(
      (async () => {
        for await (const _chunk of stream);
      })(),
    );
    expect(thrown).to.be.instanceOf(OpenAI.APIError);
  });

  it('are a time-out where the run took too long', async () => {
    const { ask } = await startChat({ app: runs(() => new Promise<void>(() => {})), limits: { runMs: 20 } });
    const response = await ask(says('Hi'));
    expect(response.status).to.equal(504);
    expect(expectShape('error', await response.json()).error.code).to.equal('timeout');
  });

  it('reach pages of listed origins, with the headers their client sends and reads', async () => {
    const origin = 'https://app.test';
    const { baseURL, ask } = await startChat({ app: recalling, origins: [origin] });
    const answer = await preflight(`${baseURL}/chat/completions`, origin);
    expect(answer.status).to.equal(204);
    const allowed = answer.headers.get('access-control-allow-headers')!.toLowerCase();
    for (const name of [
      'authorization',
      'content-type',
      'x-session-id',
      'x-stainless-os',
      'x-stainless-retry-count',
    ])
      expect(allowed).to.contain(name);
    const response = await ask(says('Hi', { model: 'none' }), { headers: { origin } });
    expect(response.headers.get('access-control-allow-origin')).to.equal(origin);
    expect(response.headers.get('access-control-expose-headers')).to.contain('x-session-id');
  });
});
