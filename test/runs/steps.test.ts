import { expect } from 'chai';
import { defineApp, GatewayError, isGatewayError, memoryStore, type Turn, tool } from '../../server/index.js';
import { formerSteps } from '../../server/runs/steps.js';
import { ToolCallError } from '../../server/runs/tool-error.js';
import { loadDriver } from '../../server/stores/sqlite/driver.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { type Gate, gate } from '../support/gate.js';
import { get, post, startGateway, TOKEN } from '../support/gateway.js';
import { openStream, type RawEvent, type RawStream } from '../support/sse-client.js';
import { ENGINES } from '../support/stores.js';

const respondAsync = { prefer: 'respond-async' };
const never = (): Promise<never> => new Promise(() => {});

const read = (url: string): Promise<RawStream> =>
  openStream(`${url}/events?sessionId=main&from=earliest&token=${TOKEN}`);
const sendTo = (url: string, message = 'go') =>
  post(`${url}/send`, { sessionId: 'main', message }, respondAsync);
const endOf = async (url: string): Promise<{ stream: RawStream; end: RawEvent['data'] }> => {
  const stream = await read(url);
  const { data: end } = await stream.until(({ event }) => event === 'message_end');
  return { stream, end };
};
const textOf = (end: any): string =>
  end.message.content.map((block: any) => (block.type === 'text' ? block.text : '')).join('');

type Program = (turn: Turn) => Promise<unknown>;

/** An app whose run is the test's; it says what that returns, as JSON. */
const appOf = (run: Program, options: { readonly resumable?: boolean; readonly tools?: any } = {}) =>
  defineApp({ resumable: true, ...options, run: async (turn) => JSON.stringify(await run(turn as Turn)) });

/** Runs a program until it opens the gate, and another one in its place after a crash at that moment. */
async function crashedAt(before: (stop: Gate) => Program, after: Program) {
  const path = newDatabase();
  const stop = gate();
  const first = await startDurable(path, { app: appOf(before(stop)) });
  await sendTo(first.url);
  await stop.passed;
  const second = await startDurable(crashed(path), { app: appOf(after) });
  return { ...(await endOf(second.url)), url: second.url };
}

async function failureOf(call: Promise<unknown>): Promise<any> {
  return call.then(
    (value) => {
      throw new Error(`it came to ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}

describe('the steps of a former process', () => {
  it('end before the first one that was not kept, which another one may have overtaken', () => {
    const step = (number: number, outcome?: string) => ({
      ...{ runId: 'r', number, name: `s${number}` },
      ...(outcome !== undefined && { outcome }),
    });
    const left = [step(2, '{"value":false}'), step(-1, '{"value":"note"}'), step(1), step(4, '{"value":4}')];
    expect(formerSteps(left)).to.deep.equal([{ name: 's1' }, { name: 's2', value: false }]);
  });
});

describe('turn.step', () => {
  it('is given what the former process noted last in it, and no other step is', async () => {
    const job = { id: 'job', at: 2 };
    const { end } = await crashedAt(
      (stop) => async (turn) => {
        await turn.step('before', ({ note }) => note('of another'));
        await turn.step('job', async ({ note, noted }) => {
          expect(noted).to.equal(undefined);
          await note({ id: 'job', at: 1 });
          await note(job);
          stop.open();
          await never();
        });
      },
      async (turn) => {
        await turn.step('before', () => {});
        const found = await turn.step('job', ({ noted, interrupted }) => ({ noted, interrupted }));
        return [found, await turn.step('after', ({ noted }) => noted === undefined)];
      },
    );
    expect(JSON.parse(textOf(end))).to.deep.equal([{ noted: job, interrupted: true }, true]);
  });

  it('takes notes while it is under way, of JSON, within the limit of all steps', async () => {
    const { url } = await startGateway({
      limits: { stepsSize: 2000 },
      app: appOf(async (turn) => {
        let late: (() => Promise<void>) | undefined;
        const failures = await turn.step('noting', async ({ note }) => {
          late = () => note('late');
          // A note takes the place of the last one, so that many of them need the room of one.
          for (let n = 0; n < 10; n++) await note('x'.repeat(900));
          return [(await failureOf(note('x'.repeat(3000)))).code, (await failureOf(note(1n))).code];
        });
        return [...failures, (await failureOf(late!())).code];
      }),
    });
    await sendTo(url);
    const { end } = await endOf(url);
    expect(JSON.parse(textOf(end))).to.deep.equal(['PAYLOAD_TOO_LARGE', 'INVALID_PARAMS', 'INVALID_PARAMS']);
  });

  it('gives back what a step came to before the crash, and goes on behind it', async () => {
    const made: string[] = [];
    const program =
      (hold: () => Promise<unknown>): Program =>
      async (turn) => {
        const step = (name: string, value: unknown) =>
          turn.step(name, () => {
            made.push(name);
            return value;
          });
        const values = [
          await step('object', { a: ['ä', { b: null }] }),
          (await step('nothing', undefined)) === undefined ? 'undefined' : 'something',
          await step('null', null),
          await step('zero', 0),
        ];
        await hold();
        return [...values, await step('last', 'x')];
      };
    const { stream, end, url } = await crashedAt(
      (stop) =>
        program(() => {
          stop.open();
          return never();
        }),
      program(async () => {}),
    );
    expect(made).to.deep.equal(['object', 'nothing', 'null', 'zero', 'last']);
    expect(JSON.parse(textOf(end))).to.deep.equal([{ a: ['ä', { b: null }] }, 'undefined', null, 0, 'x']);
    const types = ['message_accepted', 'message_start', 'content_delta', 'message_end'];
    expect(stream.logged.map(({ event }) => event)).to.deep.equal(types);
    expect(stream.logged.map(({ id }) => Number(id!.split('.')[2]))).to.deep.equal([1, 2, 3, 4]);
    const { body } = await get(`${url}/history?sessionId=main`);
    expect(JSON.stringify([body, stream.events])).to.not.contain('"object"');
  });

  it('tells what was under way, to the app and to the step, which has the same key', async () => {
    const keys: string[] = [];
    const seen: unknown[] = [];
    const { end } = await crashedAt(
      (stop) => async (turn) => {
        seen.push(turn.resumed);
        await turn.step('done', () => 1);
        await Promise.all([
          turn.step('charge', ({ key, interrupted }) => {
            keys.push(key);
            seen.push(interrupted);
            return never();
          }),
          turn.step('mail', ({ key }) => {
            keys.push(key);
            stop.open();
            return never();
          }),
        ]);
      },
      async (turn) => {
        seen.push(turn.resumed?.inFlight);
        await turn.step('done', () => seen.push('again'));
        return Promise.all([
          turn.step('charge', ({ key, interrupted }) => [key, interrupted]),
          turn.step('mail', ({ key, interrupted }) => [key, interrupted]),
          turn.step('new', ({ interrupted }) => interrupted),
        ]);
      },
    );
    expect(new Set(keys)).to.have.length(2);
    const inFlight = [
      { name: 'charge', key: keys[0] },
      { name: 'mail', key: keys[1] },
    ];
    expect(seen).to.deep.equal([null, false, inFlight]);
    expect(JSON.parse(textOf(end))).to.deep.equal([[keys[0], true], [keys[1], true], false]);
  });

  it('fails again where it has failed, and is tried again where the app does', async () => {
    let calls = 0;
    const program =
      (hold: () => Promise<unknown>): Program =>
      async (turn) => {
        const failures: unknown[] = [];
        const attempt = (error: unknown) =>
          turn
            .step('flaky', () => {
              calls += 1;
              throw error;
            })
            .catch((failure: any) => {
              const { code, message, name, retryAfterMs } = failure;
              failures.push({ code, message, name, retryAfterMs, is: isGatewayError(failure) });
            });
        await attempt(new GatewayError({ code: 'RATE_LIMITED', message: 'slow down', retryAfterMs: 7 }));
        await attempt(Object.assign(new TypeError('no route'), { code: 'ENETUNREACH' }));
        await attempt('a text');
        const failed = await failureOf(turn.step('tool', () => turn.callTool('broken', {})));
        failures.push([failed instanceof ToolCallError, failed.toolName, failed.message]);
        const last = await turn.step('flaky', () => {
          calls += 1;
          return 'at last';
        });
        await hold();
        return [failures, last];
      };
    const broken = tool({
      handler: () => {
        throw new Error('secret');
      },
    });
    const path = newDatabase();
    const stop = gate();

    const held = program(() => {
      stop.open();
      return never();
    });
    const first = await startDurable(path, { app: appOf(held, { tools: { broken } }) });
    await sendTo(first.url);
    await stop.passed;
    expect(calls).to.equal(4);
    const whole = program(async () => {});
    const second = await startDurable(crashed(path), { app: appOf(whole, { tools: { broken } }) });
    const { stream, end } = await endOf(second.url);
    const seen = JSON.parse(textOf(end));
    expect(calls, 'nothing was done twice').to.equal(4);
    expect(stream.logged.filter(({ event }) => event === 'tool_use')).to.have.length(1);
    expect(seen).to.deep.equal([
      [
        { code: 'RATE_LIMITED', message: 'slow down', name: 'GatewayError', retryAfterMs: 7, is: true },
        { code: 'ENETUNREACH', message: 'no route', name: 'TypeError', is: false },
        { message: 'a text', name: 'Error', is: false },
        [true, 'broken', 'The tool failed'],
      ],
      'at last',
    ]);
  });

  it('is another one after a restart only with an error that names both, and nothing is done from then on', async () => {
    const made: string[] = [];
    let caught: any;
    const { stream, end } = await crashedAt(
      (stop) => async (turn) => {
        await turn.step('look up', () => 1);
        await turn.step('charge', () => stop.open());
        return never();
      },
      async (turn) => {
        await turn.step('look up', () => made.push('look up'));
        caught = await failureOf(turn.step('pay', () => made.push('pay')));
        return turn.step('charge', () => made.push('charge'));
      },
    );
    expect(caught).to.include({ code: 'STEP_MISMATCH', status: 500 });
    expect(caught.details).to.deep.equal({ number: 2, before: 'charge', now: 'pay' });
    expect(made).to.deep.equal([]);
    expect(end.stopReason).to.equal('error');
    const { data } = stream.logged.find(({ event }) => event === 'run_error')!;
    expect(data).to.include({ code: 'STEP_MISMATCH' });
    expect(data.message).to.contain('"charge"').and.to.contain('"pay"');
  });

  it('keeps the order of calls, in whatever order they end', async () => {
    const program =
      (hold: Promise<unknown>, made: string[]): Program =>
      async (turn) => {
        const gates = [gate(), gate()];
        const all = Promise.all([
          turn.step('a', async () => {
            await gates[0]!.passed;
            return made.push('a') && 'A';
          }),
          turn.step('b', async () => {
            await gates[1]!.passed;
            gates[0]!.open();
            return made.push('b') && 'B';
          }),
          turn.step('c', () => {
            gates[1]!.open();
            return made.push('c') && 'C';
          }),
        ]);
        const values = await all;
        await hold;
        return values;
      };
    const made: string[] = [];
    const { end } = await crashedAt(
      (stop) => {
        const first = program(never(), made);
        return (turn) => {
          const wait = async (): Promise<void> => {
            while (made.length < 3) await new Promise(setImmediate);
            // Whatever is appended now comes behind what the steps came to.
            await turn.step('marker', () => {});
            stop.open();
          };
          void wait();
          return first(turn);
        };
      },
      program(Promise.resolve(), made),
    );
    expect(JSON.parse(textOf(end))).to.deep.equal(['A', 'B', 'C']);
    expect(made).to.deep.equal(['c', 'b', 'a']);
  });

  it('is two appends, which steps that begin or end together share', async () => {
    const store = memoryStore();
    const kept: number[] = [];
    const { append } = store;
    store.append = (log, events, options) => {
      if (options.steps) kept.push(options.steps.length);
      return append.call(store, log, events, options);
    };
    const program: Program = async (turn) => {
      await turn.step('alone', () => 1);
      await Promise.all(['a', 'b', 'c'].map((name) => turn.step(name, () => name)));
    };
    const { url } = await startGateway({ app: appOf(program), store });
    await sendTo(url);
    await endOf(url);
    expect(kept).to.deep.equal([1, 1, 3, 3]);
  });

  it('takes and gives JSON alone, the first time too', async () => {
    const cycle: any = {};
    cycle.self = cycle;
    const { url } = await startGateway({
      app: appOf(async (turn) => {
        const date: string = await turn.step('date', () => new Date(0));
        const codes: string[] = [];
        for (const value of [1n, cycle, () => 1, Symbol('x')] as unknown[])
          codes.push((await failureOf(turn.step('odd', () => value))).code);
        for (const name of ['', 'x'.repeat(129), 7 as never])
          codes.push((await failureOf(turn.step(name, () => 1))).code);
        return [date, codes];
      }),
    });
    await sendTo(url);
    const { end } = await endOf(url);
    expect(JSON.parse(textOf(end))).to.deep.equal([
      '1970-01-01T00:00:00.000Z',
      Array(7).fill('INVALID_PARAMS'),
    ]);
  });

  it('is bounded by limits.stepsSize, all steps of a run together', async () => {
    const app = appOf(async (turn) => {
      const codes: string[] = [];
      const attempt = (size: number) =>
        turn
          .step('s', () => 'x'.repeat(size))
          .then(
            () => codes.push('ok'),
            (error: any) => codes.push(error.code),
          );
      await attempt(300);
      await attempt(2000);
      await attempt(100);
      for (let i = 0; i < 20; i++) await attempt(0);
      return codes;
    });
    const { url } = await startGateway({ app, limits: { stepsSize: 1500 } });
    await sendTo(url);
    const codes = JSON.parse(textOf((await endOf(url)).end));
    expect(codes.slice(0, 3)).to.deep.equal(['ok', 'PAYLOAD_TOO_LARGE', 'ok']);
    expect(codes.at(-1), 'their number too').to.equal('PAYLOAD_TOO_LARGE');
  });

  it('does not nest', async () => {
    const { url } = await startGateway({
      app: appOf((turn) =>
        turn.step('outer', async () => {
          const { code, message } = await failureOf(turn.step('inner', () => 1));
          return [code, message];
        }),
      ),
    });
    await sendTo(url);
    const [code, message] = JSON.parse(textOf((await endOf(url)).end));
    expect(code).to.equal('INVALID_PARAMS');
    expect(message).to.contain('"inner"');
  });

  it('is aborted with its run: what comes of it then is not kept, and nothing is begun any more', async () => {
    const begun = gate<AbortSignal>();
    const late = gate();
    const after = gate<any[]>();
    const path = newDatabase();
    const { url } = await startDurable(path, {
      app: appOf(async (turn) => {
        const first = await failureOf(
          turn.step('slow', async ({ signal }) => {
            begun.open(signal);
            await late.passed;
            return 1;
          }),
        );
        let ran = false;
        const second = await failureOf(
          turn.step('next', () => {
            ran = true;
          }),
        );
        after.open([first.name, second.name, ran]);
      }),
    });
    await sendTo(url);
    const signal = await begun.passed;
    expect(signal.aborted).to.equal(false);
    await post(`${url}/abort`, { sessionId: 'main' });
    expect(signal.aborted).to.equal(true);
    late.open();
    expect(await after.passed).to.deep.equal(['AbortError', 'AbortError', false]);
    expect(await stepsIn(crashed(path))).to.equal(0);
  });

  it('leaves nothing in the store once its run has ended, and keeps nothing for an app that is not resumable', async () => {
    for (const resumable of [true, false]) {
      const path = newDatabase();
      const stop = gate();
      const go = gate();
      const { url } = await startDurable(path, {
        app: appOf(
          async (turn) => {
            const value = await turn.step('a', () => ({ n: 1 }));
            stop.open();
            await go.passed;
            return value;
          },
          { resumable },
        ),
      });
      await sendTo(url);
      await stop.passed;
      expect(await stepsIn(crashed(path))).to.equal(resumable ? 1 : 0);
      go.open();
      expect(textOf((await endOf(url)).end)).to.equal('{"n":1}');
      expect(await stepsIn(crashed(path))).to.equal(0);
    }
  });
});

async function stepsIn(path: string): Promise<number> {
  const db = (await loadDriver())(path);
  const { n } = db.prepare('SELECT count(*) AS n FROM step').get()!;
  db.close();
  return Number(n);
}

for (const [name, make] of Object.entries(ENGINES)) {
  describe(`turn.step in a run that another gateway takes over (${name})`, () => {
    it('is given what was done; the former holder neither begins nor ends one any more', async () => {
      const store = make();
      const made: string[] = [];
      const [holding, late] = [gate(), gate()];
      const former = gate<unknown>();
      let incarnation = 0;
      const app = appOf(async (turn) => {
        const me = ++incarnation;
        const done = await turn.step('done', () => made.push(`done ${me}`) && me);
        if (me > 1) {
          const { inFlight } = turn.resumed!;
          const charged = await turn.step('charge', ({ interrupted }) => [me, interrupted]);
          return [done, inFlight.map((step) => step.name), charged];
        }
        const charged = turn.step('charge', async () => {
          holding.open();
          await late.passed;
          return [me, false];
        });
        const ends = [await failureOf(charged), await failureOf(turn.step('more', () => made.push('more')))];
        former.open(ends.map((error) => error.name));
        return null;
      });
      const limits = { drainMs: 0 };
      const a = await startGateway({ app, store, limits });
      await sendTo(a.url);
      await holding.passed;
      const b = await startGateway({ app, store, limits });
      const { end } = await endOf(b.url);
      late.open();
      expect(JSON.parse(textOf(end))).to.deep.equal([1, ['charge'], [2, true]]);
      await former.passed;
      expect(made).to.deep.equal(['done 1']);
      const { stream } = await endOf(a.url);
      expect(stream.logged.filter(({ event }) => event === 'message_end')).to.have.length(1);
    });
  });
}
