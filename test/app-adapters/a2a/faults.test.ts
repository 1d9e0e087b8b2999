import type { ServerResponse } from 'node:http';
import { a2aApp } from '../../../server/app-adapters/a2a/index.js';
import { loadSdk } from '../../../server/app-adapters/a2a/sdk.js';
import { endsClearly, type Hostile } from '../hostile-agents.js';

const head = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });
const names = { taskId: 't', contextId: 'c' };
const frame = ({ id }: any, result: unknown): string =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`;
const status = (state: string, more: object = {}): object => ({
  statusUpdate: { ...names, status: { state, ...more } },
});
const artifact = (text: unknown, taskId = 't'): object => ({
  artifactUpdate: { ...names, taskId, artifact: { artifactId: 'a', parts: [{ text }] }, append: true },
});
const task = (state: string, texts: readonly string[] = ['Hi']): object => ({
  ...{ id: 't', contextId: 'c', status: { state } },
  artifacts: [{ artifactId: 'a', parts: texts.map((text) => ({ text })) }],
});
const begun = (body: any): string => frame(body, { task: task('TASK_STATE_WORKING') });

/** An agent that gives its card, and acts by itself on everything else. @param get How it answers GetTask */
const agent =
  (act: Hostile, get?: (body: any) => object): Hostile =>
  (response, body) => {
    if (body.url) {
      const url = `http://${response.req.headers.host}/a2a`;
      return void response.setHeader('content-type', 'application/json').end(
        JSON.stringify({
          ...{ name: 'A', description: '', version: '1', skills: [], capabilities: { streaming: true } },
          supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
          ...{ defaultInputModes: [], defaultOutputModes: [] },
        }),
      );
    }
    if (body.method === 'GetTask' && get)
      return void response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ jsonrpc: '2.0', id: body.id, ...get(body) }));
    return act(response, body);
  };

const saying = (...results: readonly unknown[]): Hostile =>
  agent((response, body) => {
    head(response).end(begun(body) + results.map((result) => frame(body, result)).join(''));
  });

const drip = (response: ServerResponse, piece: string): void => {
  const timer = setInterval(() => response.write(piece), 5);
  response.once('close', () => clearInterval(timer));
};

const INVALID = { code: 'APP_REPLY_INVALID' } as const;
const FAILED = { code: 'UPSTREAM_FAILED', message: /^The app's upstream failed$/ } as const;

describe('an app of A2A with a hostile agent', () => {
  // Its loading is no time of a run.
  before(() => loadSdk());

  endsClearly(
    (url) => a2aApp({ url, silenceMs: 300, eventBytes: 10_000, replyBytes: 100_000 }),
    [
      {
        name: 'never ends an event',
        act: agent((response, body) => {
          head(response).write(`${begun(body)}data: `);
          drip(response, 'x'.repeat(999));
        }),
        ...INVALID,
        message: /an event must have at most 10000 bytes/,
      },
      {
        name: 'never ends a stream',
        act: agent((response, body) => {
          head(response).write(begun(body));
          drip(response, frame(body, { ...status('TASK_STATE_WORKING'), x: 'x'.repeat(5000) }));
        }),
        ...INVALID,
        message: /at most 100000 bytes/,
      },
      { name: 'sends an item of another task', act: saying(artifact('more', 'other')), ...INVALID },
      { name: 'sends an item of no kind', act: saying({ secret: 1 }), ...INVALID },
      {
        name: 'sends what is not JSON',
        act: agent((response, body) => void head(response).end(`${begun(body)}data: {"secret"\n\n`)),
        ...INVALID,
        message: /not of A2A/,
      },
      {
        name: 'answers with an error of the protocol',
        act: agent((response, { id }) => {
          const error = { code: -32603, message: 'the secret is wrong' };
          head(response).end(`data: ${JSON.stringify({ jsonrpc: '2.0', id, error })}\n\n`);
        }),
        ...FAILED,
        said: '',
      },
      { name: 'fails', act: saying(status('TASK_STATE_FAILED')), ...FAILED },
      { name: 'rejects', act: saying(status('TASK_STATE_REJECTED')), ...FAILED },
      { name: 'cancels by itself', act: saying(status('TASK_STATE_CANCELED')), ...FAILED },
      {
        name: 'is cut off before it names a task',
        act: agent((response) => void response.destroy()),
        ...FAILED,
        said: '',
      },
      { name: 'says nothing at all', act: agent(() => {}), ...FAILED, said: '' },
      {
        name: 'forgets its task',
        act: agent(
          (response, body) => void head(response).write(begun(body), () => response.destroy()),
          () => ({ error: { code: -32001, message: 'the secret task' } }),
        ),
        ...FAILED,
      },
      {
        name: 'is silent, and has ended meanwhile',
        act: agent(
          (response, body) => void head(response).write(begun(body)),
          () => ({ result: task('TASK_STATE_COMPLETED', ['Hi', '!']) }),
        ),
        said: 'Hi!',
      },
      {
        name: 'drips without an end',
        act: agent((response, body) => {
          head(response).write(begun(body));
          drip(response, ':\n\n');
        }),
        runMs: 500,
        code: 'TIMEOUT',
        stopReason: 'timeout',
      },
      {
        name: 'breaks off again and again',
        act: agent(
          (response, body) => {
            const isFirst = body.method === 'SendStreamingMessage';
            head(response).write(isFirst ? begun(body) : ':\n\n', () => response.destroy());
          },
          () => ({ result: task('TASK_STATE_WORKING') }),
        ),
        runMs: 1500,
        code: 'TIMEOUT',
        stopReason: 'timeout',
      },
      {
        name: 'speaks on behind its end',
        act: agent((response, body) => {
          head(response).write(begun(body) + frame(body, status('TASK_STATE_COMPLETED')));
          drip(response, frame(body, artifact('more')));
        }),
      },
      {
        name: 'gives no card',
        act: (response) => void response.writeHead(404).end('secret'),
        ...FAILED,
        said: '',
      },
      {
        name: 'gives a card that is none',
        act: (response) => void response.setHeader('content-type', 'application/json').end('[7]'),
        ...FAILED,
        said: '',
      },
      {
        name: 'repeats its artifact as a whole, replaces it, and gives odd parts',
        act: saying(
          { artifactUpdate: { ...names, artifact: { artifactId: 'a', parts: [{ text: 'Hi' }, {}] } } },
          { artifactUpdate: { ...names, artifact: { artifactId: 'a', parts: [{ text: 'Ho' }] } } },
          status('TASK_STATE_COMPLETED', {
            message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Ho' }] },
          }),
        ),
        said: 'Hi\n\nHo',
      },
    ],
  );
});
