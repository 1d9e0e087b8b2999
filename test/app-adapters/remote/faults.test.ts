import { expect } from 'chai';
import { type RemoteAppOptions, remoteApp } from '../../../server/app-adapters/remote/index.js';
import { textOf } from '../../../shared/messages.js';
import { type Served, serve } from '../served.js';
import { ScriptedApp, SECRET } from './scripted-app.js';

const END = { type: 'end' };
const HI = { type: 'text', delta: 'Hi' };

async function served(
  options: Partial<RemoteAppOptions> = {},
): Promise<Served & { readonly app: ScriptedApp }> {
  const app = await ScriptedApp.start();
  return { ...(await serve(remoteApp({ url: app.url, secret: SECRET, ...options }))), app };
}

/** Replies that are not of the protocol, and what names the fault. Each says Hi in its first line. */
const FAULTS: readonly (readonly [what: string, lines: readonly (object | string)[], told: RegExp])[] = [
  ['no JSON', ['{"type":\n'], /^Line 2 of the app's reply: must be JSON$/],
  ['a list', ['[]\n'], /^Line 2 of the app's reply: must be an object$/],
  ['null', ['null\n'], /Line 2 .* must be an object/],
  ['no type', [{ delta: 'x' }], /Line 2 .* type: must be one of text, reasoning,/],
  ['an unknown type', [{ type: 'shout' }], /Line 2 .* type: must be one of/],
  ['a wrong field', [{ type: 'text', delta: 1 }], /Line 2 .* delta: /],
  ['a missing field', [{ type: 'data', name: 'x', value: 1 }], /Line 2 .* id: /],
  ['half a character', [Buffer.from('ff0a', 'hex').toString('latin1')], /Line 2 /],
  [
    'deep nesting',
    [`{"type":"data","id":"a","name":"b","value":${'['.repeat(80)}${']'.repeat(80)}}\n`],
    /Line 2 /,
  ],
  [
    'a key of a prototype',
    ['{"type":"data","id":"a","name":"b","value":{"__proto__":1}}\n'],
    /Line 2 .*__proto__/,
  ],
  ['a place beyond what was said', [{ type: 'text', delta: 'x', at: 3 }], /Line 2 .* at: must be at most 2/],
  ['a step out of order', [{ type: 'step', n: 2, name: 'x' }], /Line 2 .* n: must be at most 1/],
  ['a call out of order', [{ type: 'ask', n: 3, name: 'x' }], /Line 2 .* n: must be at most 1/],
  ['a step without a number', [{ type: 'step', name: 'x' }], /Line 2 .* n: /],
  ['a step of number 0', [{ type: 'step', n: 0, name: 'x' }], /Line 2 .* n: /],
  ['a sleep without a time', [{ type: 'sleep', n: 1, name: 'x' }], /Line 2 .* ms: /],
  ['a code that is none', [{ type: 'error', code: 'bad code', message: 'x' }], /Line 2 .* code: /],
  ['a wait for nothing', [{ type: 'wait' }], /Line 2 .* type: must be continue/],
  ['a line after the last', [END, HI], /Line 3 .* type: comes after end/],
  ['half a line after the last', [END, '{"ty'], /Line 3 .* comes after end/],
  [
    'a long line',
    [`{"type":"text","delta":"${'x'.repeat(2000)}"}\n`],
    /Line 2 .* must have at most 1024 bytes/,
  ],
  ['a line without an end', ['x'.repeat(2000)], /Line 2 .* must have at most 1024 bytes/],
  [
    'a long reply',
    Array.from({ length: 50 }, () => ({ type: 'text', delta: 'x'.repeat(100) })),
    /comes after 4096 bytes/,
  ],
];

describe('faults of an app that runs elsewhere', () => {
  for (const [what, lines, told] of FAULTS) {
    it(`${what} ends the run with a code that names the line, and what was said stays`, async () => {
      const { client, app } = await served({ lineBytes: 1024, replyBytes: 4096 });
      const run = client.send('main', 'Go');
      const asked = await app.next();
      asked.say(
        [HI, ...lines]
          .map((line) => (typeof line === 'string' ? line : `${JSON.stringify(line)}\n`))
          .join(''),
      );
      const { error, stopReason, message } = await run.result;
      expect([stopReason, error?.code]).to.deep.equal(['error', 'APP_REPLY_INVALID']);
      expect(error?.message).to.match(told);
      expect(textOf(message)).to.match(/^Hi/);
      await asked.closed;
    });
  }

  it('a fault leads to another slice where the app is told so, and what follows it is dropped', async () => {
    const { client, app } = await served({ onFault: 'again' });
    const run = client.send('main', 'Go');
    (await app.next()).say(HI, '!\n', { type: 'text', delta: ' lost' });
    (await app.next()).end(HI, { type: 'text', delta: ' there' }, END);
    expect(textOf((await run.result).message)).to.equal('Hi there');
  });

  it('a step under another name than before ends the run', async () => {
    const { client, app } = await served();
    const run = client.send('main', 'Go');
    (await app.next()).end({ type: 'step', n: 1, name: 'order', value: 1 }, { type: 'continue' });
    (await app.next()).end({ type: 'step', n: 1, name: 'pay', value: 1 }, END);
    expect((await run.result).error?.code).to.equal('STEP_MISMATCH');
  });

  for (const [status, type] of [
    [200, 'text/html'],
    [201, 'application/x-ndjson'],
    [302, 'application/x-ndjson'],
    [401, 'application/x-ndjson'],
  ] as const) {
    it(`status ${status} with ${type} is a fault`, async () => {
      const { client, app } = await served();
      const run = client.send('main', 'Go');
      (await app.next()).answer(status, type).say('x');
      const { error } = await run.result;
      expect(error?.code).to.equal('APP_REPLY_INVALID');
      expect(error?.message).to.include(status === 200 ? 'content-type' : `status ${status}`);
    });
  }

  for (const [what, act] of [
    ['an app that answers nothing', () => {}],
    ['an app that stops in the middle of a line', (asked) => asked.say(HI, '{"type":"te')],
  ] as [string, (asked: Awaited<ReturnType<ScriptedApp['next']>>) => unknown][]) {
    it(`${what} is called again`, async () => {
      const { client, app } = await served({ silenceMs: 50 });
      const run = client.send('main', 'Go');
      const asked = await app.next();
      act(asked);
      await asked.closed;
      (await app.next()).end(HI, END);
      expect(textOf((await run.result).message)).to.equal('Hi');
    });
  }

  it('an app that drips beyond its time is cut off', async () => {
    const { client, app } = await served({ sliceMs: 1, graceMs: 50 });
    const run = client.send('main', 'Go');
    const asked = await app.next();
    const drip = setInterval(() => asked.say('\n'), 5);
    await asked.closed;
    clearInterval(drip);
    (await app.next()).end(HI, END);
    expect(textOf((await run.result).message)).to.equal('Hi');
  });

  it('a wrong option names itself', () => {
    const url = 'http://127.0.0.1/';
    const refused = (options: object): string => {
      try {
        remoteApp({ url, secret: SECRET, ...options });
      } catch (error) {
        return (error as Error).message;
      }
      return '';
    };
    for (const options of [
      ...[
        { url: 'x' },
        { url: 'ftp://x' },
        { url: 'unix:' },
        { secret: 'x' },
        { secret: [] },
        { secret: undefined },
      ],
      ...[{ sliceMs: 0 }, { silenceMs: 1.5 }, { lineBytes: 0 }, { replyBytes: -1 }, { historyMessages: -1 }],
      ...[{ historySize: 'x' }, { attempts: 0 }, { onFault: 'x' }],
    ])
      expect(refused(options)).to.match(new RegExp(`^${Object.keys(options)[0]}: `));
    expect(refused({ url: 'unix:/tmp/x' })).to.equal('');
  });
});
