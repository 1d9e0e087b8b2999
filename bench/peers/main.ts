import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { createDelta, nowMicros } from './application.js';
import type { Flood, Pace, ServerAnswers, ServerCommand } from './commands.js';
import { loadPeer, parsePeer } from './index.js';

// The process of one peer: it serves, and produces events when it is told to.

const BLOCKED_BYTES = 256 * 1024;
/** Asking for the processor's time costs some. */
const TURNS_A_LOOK = 16;
/** Times as long as the processor's time that a flood may take. */
const LONGEST = 10;
const sockets = new Set<Socket>();
subscribe('net.server.socket', (message) => {
  const { socket } = message as { readonly socket: Socket };
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
});

const [name = '', port = '', socketPath = ''] = process.argv.slice(2);
const peer = await loadPeer(name);
const served = await peer.start({ port: Number(port), socketPath, variant: parsePeer(name).variant });
let cpu = process.cpuUsage();

const cpuMicros = (since?: NodeJS.CpuUsage): number => {
  const { user, system } = process.cpuUsage(since);
  return user + system;
};

/**
 * Produces events as fast as the sockets take them, until so much of the processor's time is used and there are so many at least: that
 * is the same amount of work on a machine that has others to serve.
 */
function flood({ ms, sessions, perTurn, atLeast = 0 }: Flood): Promise<ServerAnswers['flood']> {
  const open = [...sockets];
  const startedAt = nowMicros();
  const latest = performance.now() + ms * LONGEST;
  cpu = process.cpuUsage();
  let turns = 0;
  let emitted = 0;
  let looked = 0;
  const isBlocked = (): boolean => {
    for (let n = 0; n < 8 && n < open.length; n++)
      if (open[looked++ % open.length]!.writableLength > BLOCKED_BYTES) return true;
    return false;
  };
  const isDone = (): boolean =>
    turns++ % TURNS_A_LOOK === 0 &&
    emitted >= atLeast &&
    (cpuMicros(cpu) >= ms * 1000 || performance.now() > latest);
  return new Promise((resolve) => {
    const turn = (): void => {
      if (isDone()) return resolve({ emitted, startedAt });
      if (isBlocked()) return void setTimeout(turn, 1);
      for (let n = 0; n < perTurn; n++) served.emit!(`s${emitted++ % sessions}`, createDelta());
      setImmediate(turn);
    };
    turn();
  });
}

async function pace({ ms, everyMs }: Pace): Promise<ServerAnswers['pace']> {
  const began = nowMicros();
  const since = process.cpuUsage();
  const total = Math.floor(ms / everyMs);
  for (let emitted = 0; emitted < total; emitted++) {
    const due = began + emitted * everyMs * 1000;
    const wait = (due - nowMicros()) / 1000;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, Math.ceil(wait)));
    served.emit!('s0', createDelta(due));
  }
  return { emitted: total, micros: cpuMicros(since) };
}

/** Memory after collections of garbage, where the process was started so that it can be asked for them. */
async function memory(): Promise<ServerAnswers['memory']> {
  for (let n = 0; n < 2; n++) {
    globalThis.gc?.();
    await new Promise(setImmediate);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  return { rss, heap: heapUsed + external };
}

async function answer(command: ServerCommand): Promise<unknown> {
  switch (command.do) {
    case 'flood':
      return flood(command);
    case 'pace':
      return pace(command);
    case 'zeroCpu':
      cpu = process.cpuUsage();
      return {};
    case 'cpu':
      return { micros: cpuMicros(cpu) };
    case 'memory':
      return memory();
    case 'rss':
      return { rss: process.memoryUsage().rss, heap: process.memoryUsage().heapUsed };
    case 'store':
      return served.store!(command.events);
    case 'idle':
      return served.idle!(command.sessions);
    case 'age':
      return served.age!(command.sessions, command.message);
    case 'append':
      return { micros: await served.append!(command) };
    case 'exit':
      await served.close?.();
      process.exit(0);
  }
}

process.on('message', async (command: ServerCommand) => {
  try {
    process.send!({ answer: (await answer(command)) ?? {} });
  } catch (error) {
    process.send!({ error: String(error) });
  }
});
process.on('disconnect', () => process.exit(0));
process.send!({ answer: {} });
