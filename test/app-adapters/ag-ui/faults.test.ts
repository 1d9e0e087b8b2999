import type { ServerResponse } from 'node:http';
import { agUiApp } from '../../../server/app-adapters/ag-ui/index.js';
import { loadSdk } from '../../../server/app-adapters/ag-ui/sdk.js';
import { endsClearly, type Hostile } from '../hostile-agents.js';

const head = (response: ServerResponse): ServerResponse =>
  response.writeHead(200, { 'content-type': 'text/event-stream' });
const frame = (event: unknown): string => `data: ${JSON.stringify(event)}\n\n`;
const begun = ({ threadId, runId }: any, newline = '\n'): string =>
  [
    { type: 'RUN_STARTED', threadId, runId },
    { type: 'TEXT_MESSAGE_START', messageId: 'm', role: 'assistant' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Hi' },
  ]
    .map(frame)
    .join('')
    .replaceAll('\n', newline);
const ended = ({ threadId, runId }: any): string =>
  frame({ type: 'TEXT_MESSAGE_END', messageId: 'm' }) + frame({ type: 'RUN_FINISHED', threadId, runId });

/** Says a little, then something else. */
const saying =
  (...frames: readonly string[]): Hostile =>
  (response, input) =>
    void head(response).end(begun(input) + frames.join(''));

const drip = (response: ServerResponse, piece: string): void => {
  const timer = setInterval(() => response.write(piece), 5);
  response.once('close', () => clearInterval(timer));
};

const INVALID = { code: 'APP_REPLY_INVALID' } as const;
const FAILED = { code: 'UPSTREAM_FAILED', message: /^The app's upstream failed$/ } as const;

describe('an app of AG-UI with a hostile agent', () => {
  // Its loading is no time of a run.
  before(() => loadSdk());
  endsClearly(
    (url) => agUiApp({ url, silenceMs: 300, eventBytes: 10_000, replyBytes: 100_000 }),
    [
      {
        name: 'never ends an event',
        act: (response, input) => {
          head(response).write(`${begun(input)}data: `);
          drip(response, 'x'.repeat(999));
        },
        ...INVALID,
        message: /an event must have at most 10000 bytes/,
      },
      {
        name: 'never ends a run',
        act: (response, input) => {
          head(response).write(begun(input));
          drip(response, frame({ type: 'RAW', event: 'x'.repeat(5000) }));
        },
        ...INVALID,
        message: /at most 100000 bytes/,
      },
      {
        name: 'sends a wrong type',
        act: saying(frame({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 7, secret: 1 })),
        ...INVALID,
        message: /event 4 is not of AG-UI/,
      },
      { name: 'sends what is not JSON', act: saying('data: {"secret"\n\n'), ...INVALID, message: /event 4/ },
      { name: 'sends what is no event', act: saying('data: null\n\n'), ...INVALID, message: /event 4/ },
      {
        name: 'sends an event out of its place',
        act: saying(frame({ type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{}' })),
        ...INVALID,
        message: /event 4/,
      },
      {
        name: 'sends a deep value, and no end',
        act: saying(`data: {"type":"CUSTOM","name":"x","value":${'['.repeat(4000)}${']'.repeat(4000)}}\n\n`),
        ...FAILED,
      },
      {
        name: 'begins with something else',
        act: (response) => void head(response).end(frame({ type: 'STEP_STARTED', stepName: 's' })),
        ...INVALID,
        message: /event 1/,
        said: '',
      },
      { name: 'ends its reply before the run', act: saying(), ...FAILED },
      {
        name: 'cuts the connection',
        act: (response, input) => void head(response).write(begun(input), () => response.destroy()),
        ...FAILED,
      },
      {
        name: 'is silent',
        act: (response, input) => void head(response).write(begun(input)),
        ...FAILED,
      },
      { name: 'says nothing at all', act: () => {}, ...FAILED, said: '' },
      {
        name: 'drips without an end',
        act: (response, input) => {
          head(response).write(begun(input));
          drip(response, ':\n\n');
        },
        runMs: 500,
        code: 'TIMEOUT',
        stopReason: 'timeout',
      },
      {
        name: 'refuses',
        act: (response) => void response.writeHead(401).end('the secret is wrong'),
        ...FAILED,
        said: '',
      },
      {
        name: 'leads elsewhere',
        act: (response) => void response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end(),
        ...FAILED,
        said: '',
      },
      { name: 'fails', act: saying(frame({ type: 'RUN_ERROR', message: 'the secret' })), ...FAILED },
      {
        name: 'speaks on behind its end',
        act: (response, input) => {
          const late = frame({ type: 'TEXT_MESSAGE_START', messageId: 'n', role: 'assistant' });
          head(response).write(begun(input) + ended(input) + late);
          drip(response, frame({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'n', delta: 'more' }));
        },
      },
      {
        name: 'ends its lines in another way, and sends them byte by byte',
        act: async (response, input) => {
          head(response);
          for (const byte of `${begun(input, '\r\n')}${ended(input)}`)
            await new Promise((sent) => response.write(byte, sent));
          response.end();
        },
      },
    ],
  );
});
