import { expect } from 'chai';
import { echo } from './apps.js';
import { jsonHeaders, startGateway, type TestGateway, TOKEN } from './gateway.js';

const echoParams = async (params: unknown) => params ?? null;
/** A gateway with the methods `echo` and `tasks:list`. */
export const startTarget = () =>
  startGateway({ app: echo, methods: { echo: echoParams, tasks: { list: async () => [] } } });

/** The designed refusal: status, code, the error body's shape, no inner text; the gateway lives on and logs no secret. */
export async function expectRefused(
  { url, log }: TestGateway,
  answer: { status: number; body: any },
  status: number,
  code: string,
): Promise<void> {
  expect(answer.status, JSON.stringify(answer.body)).to.equal(status);
  expect(answer.body).to.have.all.keys('error');
  expect(answer.body.error).to.include({ code });
  expect(answer.body.error.message).to.be.a('string').and.not.equal('');
  const text = JSON.stringify(answer.body);
  expect(text).not.to.match(/node_modules|\.ts:|\.js:|\bat .*\(/);
  expect(text).not.to.include(TOKEN);
  expect((await fetch(`${url}/healthz`)).status).to.equal(200);
  expect(JSON.stringify(log.lines)).not.to.include(TOKEN);
}

/** POSTs a body as it is. */
export const postRaw = (url: string, path: string, body: BodyInit, headers = jsonHeaders()) =>
  fetch(`${url}${path}`, { method: 'POST', headers, body }).then(async (response) => ({
    status: response.status,
    body: (await response.json()) as any,
  }));
