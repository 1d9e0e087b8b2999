// Runs one group of the crash matrix in a process of its own, with the default logger, and prints what it came to.
import { z } from 'zod';
import { createGateway, defineApp, type GatewayPlugin } from '../../server/index.js';
import { openWebSocket } from '../support/raw-socket.js';
import {
  eachDoor,
  forEachValue,
  type Outcome,
  openGateway,
  runCell,
  UNBOUNDED,
  wrongAnswer,
} from './cells.js';
import { GOOD_TOKEN } from './doors.js';
import { LARGE } from './hostile-values.js';
import { appPlaces, hostile, listenerPlaces, methodPlaces, streamPlaces } from './places.js';
import '../support/shipped-limits.js';

const [, , group = '', directory = ''] = process.argv;
const echo = defineApp({
  async *run(turn) {
    yield turn.text;
  },
});
const outcome: Outcome = { cells: 0, failures: [] };
const value = (): any => hostile.make();

/** A connection that has nothing to do with the cells: it must neither be cut nor left without its answers. */
async function bystander(url: string): Promise<{ check(): Promise<void> }> {
  const socket = await openWebSocket(url);
  await socket.connect({ token: GOOD_TOKEN, subscribe: [{ sessionId: 'bystander' }] });
  return {
    async check() {
      await runCell(outcome, 'the bystander', async () => {
        const { ok } = await socket.ask('1', 'invoke', { method: 'ping', params: {} });
        await socket.ask('2', 'send', { sessionId: 'bystander', message: 'x' });
        await socket.event('message_end');
        return ok ? null : 'its call failed';
      });
    },
  };
}

const groups: Readonly<Record<string, () => Promise<void>>> = {
  async methods() {
    const at = await openGateway(directory, {
      app: echo,
      channels: { typed: z.object({ n: z.number() }) },
      events: { typed: z.object({ n: z.number() }) },
      methods: { ping: () => 'pong', place: methodPlaces, flow: streamPlaces },
    });
    const other = await bystander(at.url);
    await eachDoor(at, async (doorName, door) => {
      for (const name of Object.keys(methodPlaces)) {
        await forEachValue((kind) =>
          runCell(outcome, `${doorName}, ${name}, ${kind}`, async () =>
            wrongAnswer(await door.invoke(`place:${name}`, 'main')),
          ),
        );
      }
      for (const name of Object.keys(streamPlaces)) {
        await forEachValue((kind) =>
          runCell(outcome, `${doorName}, ${name}, ${kind}`, async () =>
            wrongAnswer(await door.stream(`flow:${name}`, 'main')),
          ),
        );
      }
      // A stream asked for as a plain call, and the reverse.
      await forEachValue((kind) =>
        runCell(outcome, `${doorName}, the wrong kind, ${kind}`, async () =>
          wrongAnswer(await door.stream('place:reject', 'main')),
        ),
      );
    });
    await other.check();
    await at.gateway.close();
  },

  async runs() {
    const at = await openGateway(directory, {
      apps: { echo, ...appPlaces },
      defaultApp: 'echo',
      methods: { ping: () => 'pong' },
      // A reader of 20 MB must not be overtaken by the cut.
      limits: { ...UNBOUNDED, retention: { bytes: 1e9 } },
    });
    const other = await bystander(at.url);
    const ends = new Map<string, number>();
    at.gateway.on('run:ended', ({ sessionId }) => void ends.set(sessionId, (ends.get(sessionId) ?? 0) + 1));
    let count = 0;
    await eachDoor(at, async (doorName, door) => {
      for (const name of Object.keys(appPlaces)) {
        await forEachValue(async (kind) => {
          // What is large costs seconds, and takes one way whatever the door.
          if (kind === LARGE && doorName !== 'http') return;
          await runCell(outcome, `${doorName}, ${name}, ${kind}`, async () => {
            count += 1;
            const sessionId = `${name}:s${count}`;
            const over = endOf(at.gateway, sessionId);
            const wrong = wrongAnswer(await door.send(sessionId));
            if (wrong) return wrong;
            const logged = await over;
            if (logged !== 1) return `${logged} message_end in the log`;
            return ends.get(sessionId) === 1 ? null : `told of ${ends.get(sessionId)} ends`;
          });
        });
      }
    });
    await other.check();
    await at.gateway.close();
  },

  async auth() {
    const modes = [
      'validate',
      'validate-reject',
      'validate-answer',
      'validate-user',
      'hydrate',
      'hydrate-answer',
    ];
    for (const mode of modes) {
      await forEachValue(async (kind) => {
        const at = await openGateway(directory, {
          app: echo,
          auth: {
            type: 'custom',
            validate: (): any => {
              if (mode === 'validate') throw value();
              if (mode === 'validate-reject') return Promise.reject(value());
              if (mode === 'validate-answer') return value();
              return { valid: true, user: mode === 'validate-user' ? value() : { id: 'u' } };
            },
            hydrateUser: (): any => {
              if (mode === 'hydrate') throw value();
              return mode === 'hydrate-answer' ? value() : { id: 'u' };
            },
          },
        });
        await runCell(outcome, `http, ${mode}, ${kind}`, async () => {
          const answer = await fetch(`${at.url}/status`, { headers: { authorization: 'Bearer t' } });
          const body = await answer.json();
          return wrongAnswer(answer.ok ? { ok: true } : { ok: false, code: body.error.code });
        });
        await runCell(outcome, `websocket, ${mode}, ${kind}`, async () => {
          const socket = await openWebSocket(at.url);
          socket.say({ type: 'connect', protocol: { min: 1, max: 1 }, token: 't' });
          const frame = await socket.until(({ type, event }) => type === 'error' || event === 'connected');
          socket.destroy();
          return wrongAnswer(frame.type === 'error' ? { ok: false, code: frame.code } : { ok: true });
        });
        await at.gateway.close();
      });
    }
  },

  async hosts() {
    const plugin: GatewayPlugin = {
      name: 'hostile',
      setup(context) {
        const fail = (): void => {
          throw value();
        };
        const toss = (): never => {
          throw value();
        };
        context.route('/p/throw', toss);
        context.route('/p/reject', () => Promise.reject(value()));
        context.route('/p/fail', toss, { fail });
        context.route('/p/status', ({ response }) => void response.writeHead(value()));
        context.route('/p/header', ({ response }) => {
          response.setHeader('x', value());
          toss();
        });
        context.route('/p/report', ({ response }) => {
          context.report(value(), 'a plugin reports');
          response.end();
        });
      },
    };
    const at = await openGateway(directory, {
      app: echo,
      methods: { ping: () => 'pong', emit: async () => at.gateway.session('s', { user: { id: 'u' } }).id },
      sessionAccess: (_user, { name }): any => {
        if (name === 'throw') throw value();
        if (name === 'reject') return Promise.reject(value());
        return name === 'answer' ? value() : true;
      },
    });
    at.gateway.use(plugin);
    const other = await bystander(at.url);
    await forEachValue(async (kind) => {
      for (const route of ['throw', 'reject', 'fail', 'status', 'header', 'report']) {
        await runCell(outcome, `plugin ${route}, ${kind}`, async () => {
          const answer = await fetch(`${at.url}/p/${route}`).catch((error: Error) => error);
          // Its own head may be what can't be sent; then the connection is cut, as Node does.
          return answer instanceof Error || answer.status >= 200 ? null : 'no answer';
        });
      }
      for (const name of ['throw', 'reject', 'answer']) {
        await runCell(outcome, `sessionAccess ${name}, ${kind}`, async () => {
          const answer = await fetch(`${at.url}/status?sessionId=${name}`, {
            headers: { authorization: `Bearer ${GOOD_TOKEN}` },
          });
          return answer.status === 404 ? null : `answered ${answer.status}`;
        });
      }
      for (const listener of Object.values(listenerPlaces)) {
        const stop = at.gateway.on('client:connected', listener);
        const stopErrors = at.gateway.on('error', listener);
        await runCell(outcome, `listener, ${kind}`, async () => {
          const socket = await openWebSocket(at.url);
          await socket.connect({ token: GOOD_TOKEN });
          socket.destroy();
          return null;
        });
        stop();
        stopErrors();
      }
    });
    await other.check();
    await at.gateway.close();
    await forEachValue(async (kind) => {
      for (const mode of ['throw', 'reject', 'answer']) {
        const log = (): any => {
          if (mode === 'throw') throw value();
          return mode === 'reject' ? Promise.reject(value()) : value();
        };
        await runCell(outcome, `logger ${mode}, ${kind}`, async () => {
          const gateway = createGateway({
            port: 0,
            app: echo,
            limits: UNBOUNDED,
            logger: { warn: log, error: log },
            methods: {
              fail: () => {
                throw value();
              },
            },
          });
          const { url } = await gateway.start();
          const answer = await fetch(`${url}/invoke`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: '{"method":"fail"}',
          });
          const { error } = await answer.json();
          await gateway.close();
          return wrongAnswer({ ok: false, code: error.code });
        });
      }
    });
  },
};

/** The ends that the log of a session says its run had, counted once the session is closed behind it. */
async function endOf(
  gateway: Awaited<ReturnType<typeof openGateway>>['gateway'],
  id: string,
): Promise<number> {
  const session = gateway.session(id, { user: { id: 'u' } });
  let ends = 0;
  // On a busy machine the run may be over before it is followed.
  for await (const { type } of session.events({ from: 'earliest' })) {
    if (type === 'session_closed') break;
    if (type !== 'message_end') continue;
    ends += 1;
    if (ends === 1) setImmediate(() => session.close().catch(() => {}));
  }
  return ends;
}

await groups[group]!();
process.stdout.write(`\nOUTCOME ${JSON.stringify(outcome)}\n`, () => process.exit(0));
