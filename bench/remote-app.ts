import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { remoteApp, serveApp } from '../server/app-adapters/remote/index.js';
import { createGateway } from '../server/index.js';
import { buildProgram } from '../test/support/built-program.js';

// npx tsx bench/remote-app.ts [pieces] [runs at once] [rounds]: the first piece, and the gateway's CPU for each piece, of an app in another process beside the
// same app in the gateway's own, which makes its pieces from nothing, or reads them from a model's server as most apps do.

const SECRET = Buffer.alloc(32, 'b').toString('base64');
const PIECE = 'a piece of 20 chars.';
const args = process.argv.slice(2);
const [pieces = 200, atOnce = 50, rounds = 5] = args.filter((arg) => /^\d+$/.test(arg)).map(Number);

/** Time between the pieces of one run, in milliseconds. */
const PACE_MS = 10;

/** An answer whose pieces come one by one, as those of a model do. */
async function* run({ text }: { readonly text: string }): AsyncGenerator<string, void> {
  if (text === 'ping') return void (yield 'pong');
  for (let at = 0; at < Number(text); at++) {
    await new Promise((resolve) => setTimeout(resolve, PACE_MS));
    yield PIECE;
  }
}

/** The pieces of a model, which is asked over HTTP. */
async function* modelled(url: string, { text }: { readonly text: string }): AsyncGenerator<string, void> {
  const [response] = (await once(get(`${url}?${text}`), 'response')) as [IncomingMessage];
  for await (const piece of response.setEncoding('utf8')) yield piece as string;
}

if (process.send && args.includes('app')) {
  const { url } = await serveApp({ run }, { secret: SECRET });
  const model = createServer(async ({ url: path }, response) => {
    for await (const piece of run({ text: path!.split('?')[1]! })) response.write(piece);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(model, 'listening');
  process.send([url, `http://127.0.0.1:${(model.address() as AddressInfo).port}/`]);
} else if (process.send) {
  await measure(args.at(-2)!, args.at(-1)!);
  process.exit(0);
} else {
  const program = await buildProgram('bench/remote-app.ts');
  const app = fork(program, ['app'], { execArgv: [] });
  const [urls] = (await once(app, 'message')) as [[string, string]];
  const gateway = fork(program, [`${pieces}`, `${atOnce}`, `${rounds}`, ...urls], { execArgv: [] });
  await once(gateway, 'exit');
  app.kill();
  process.exit(0);
}

async function measure(url: string, model: string): Promise<void> {
  const asking = { run: (turn: { readonly text: string }) => modelled(model, turn) };
  const apps = { near: { run }, asking, far: remoteApp({ url, secret: SECRET }) };
  const limits = { loopDelayMs: Number.POSITIVE_INFINITY, sendsPerSecond: 1e6, sessionsPerUser: 1e6 };
  const gateway = createGateway({ apps, defaultApp: 'near', auth: { type: 'none' }, limits });
  let sent = 0;
  const send = (app: string, text: string) => {
    sent += 1;
    return gateway.session(`${app}:s${sent}`, { user: { id: `u${sent % 100}` } }).send(text);
  };
  const first = async (app: string): Promise<number> => {
    const began = performance.now();
    const sending = send(app, 'ping');
    let ms = 0;
    for await (const event of sending) if (event.type === 'content_delta') ms ||= performance.now() - began;
    return ms;
  };
  const cpu = async (app: string): Promise<number> => {
    const before = process.cpuUsage();
    await Promise.all(Array.from({ length: atOnce }, () => send(app, `${pieces}`).result));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / (pieces * atOnce);
  };
  const times: Record<string, number[]> = { near: [], asking: [], far: [] };
  const costs: Record<string, number[]> = { near: [], asking: [], far: [] };
  for (let round = 0; round <= rounds; round++)
    for (const app of round % 2 === 0 ? ['near', 'asking', 'far'] : ['far', 'asking', 'near']) {
      const ms: number[] = [];
      for (let at = 0; at < 60; at++) ms.push(await first(app));
      const cost = await cpu(app);
      // The first round warms up.
      if (round === 0) continue;
      times[app]!.push(...ms);
      costs[app]!.push(cost);
    }
  const share = (values: readonly number[], part: number): string =>
    [...values].sort((a, b) => a - b)[Math.floor(values.length * part)]!.toFixed(2);
  for (const app of ['near', 'asking', 'far'])
    console.log(
      `${app}: first piece p10 ${share(times[app]!, 0.1)} ms, p50 ${share(times[app]!, 0.5)} ms; CPU of a piece ${share(costs[app]!, 0.5)} µs (${share(costs[app]!, 0)} to ${share(costs[app]!, 0.999)})`,
    );
  for (const app of ['near', 'asking'])
    console.log(
      `CPU far / ${app}: ${share(
        costs.far!.map((cost, at) => cost / costs[app]![at]!),
        0.5,
      )}`,
    );
  await gateway.close();
}
