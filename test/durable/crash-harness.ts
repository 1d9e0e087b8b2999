import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../../server/async/deadline.js';
import { newDatabase } from '../support/durable.js';
import { freePort } from '../support/free-port.js';
import { post, TOKEN } from '../support/gateway.js';
import { runListening } from '../support/gateway-process.js';
import type { Program } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import type { RawEvent } from '../support/sse-client.js';
import { RawReader } from '../support/sse-client.js';
import type { SessionHistory } from './checker.js';
import type { mutants } from './mutants.js';

const READERS = 2;
const SENDERS = 3;
const READ_MS = 20_000;

/** A session under test, with what its clients saw. */
interface Target extends SessionHistory {
  readonly readers: RawEvent[][];
  readonly refused: string[];
  /** Keys that were sent and for which no answer has come yet, with their bodies. */
  readonly open: Map<string, string>;
}

/** Kills a gateway again and again while its clients send and read, and keeps what they saw. */
export class CrashRun {
  readonly #file: string;
  readonly #mutant: keyof typeof mutants;
  readonly #path = newDatabase();
  readonly #targets: Target[];
  readonly #streams = new Set<AbortController>();
  #ended = false;
  #url = '';
  #sending = false;
  #keys = 0;

  constructor(file: string, mutant: keyof typeof mutants, sessions: number) {
    this.#file = file;
    this.#mutant = mutant;
    this.#targets = Array.from({ length: sessions }, (_, i) => ({
      id: `s${i}`,
      acknowledged: new Map(),
      readers: Array.from({ length: READERS }, () => []),
      open: new Map(),
      refused: [],
      log: [],
    }));
    closeLater(this, (run) => run.#end());
  }

  /** Runs so many rounds, then lets everything come to rest. @returns the history of each session */
  async run(rounds: number, random: () => number, restMs: number): Promise<readonly SessionHistory[]> {
    const port = await freePort();
    this.#url = `http://127.0.0.1:${port}`;
    const reading = this.#targets.flatMap((target) =>
      target.readers.map((events) => this.#read(target.id, events)),
    );
    for (let round = 0; round < rounds; round++) {
      const gateway = await this.#start(port);
      this.#sending = true;
      const sending = this.#targets.flatMap((target) =>
        Array.from({ length: SENDERS }, () => this.#send(target, random)),
      );
      await delay(5 + random() * 350);
      await gateway.kill('SIGKILL');
      this.#sending = false;
      await Promise.all(sending);
    }
    const gateway = await this.#start(port);
    const asking = this.#targets.flatMap((target) =>
      [...target.open].map(([key, body]) => this.#once(target, key, body)),
    );
    // Whoever waits for a run that nobody ends is let go with the gateway.
    await within(Promise.all(asking), restMs);
    await this.#rest(restMs);
    this.#end();
    await Promise.all(reading);
    await gateway.kill('SIGKILL');
    return this.#targets;
  }

  #end(): void {
    this.#ended = true;
    for (const stream of this.#streams) stream.abort();
  }

  async #start(port: number): Promise<Program> {
    return (await runListening(this.#file, this.#path, String(port), this.#mutant)).program;
  }

  async #send(target: Target, random: () => number): Promise<void> {
    while (this.#sending) {
      const [old] = target.open;
      if (old && random() < 0.5) await this.#once(target, ...old);
      else {
        const key = `k${++this.#keys}`;
        const body = String(Math.floor(random() * 40));
        target.open.set(key, body);
        // Some clients are impatient and send the same twice.
        const twice = random() < 0.3 ? this.#once(target, key, body) : null;
        await this.#once(target, key, body);
        await twice;
      }
    }
  }

  async #once(target: Target, key: string, message: string): Promise<void> {
    const asked = Number(key.slice(1)) % 3 === 0 ? {} : { prefer: 'respond-async' };
    try {
      const { status, body } = await post(
        `${this.#url}/send`,
        { sessionId: target.id, message, idempotencyKey: key },
        asked as Record<string, string>,
      );
      if (status >= 500) return;
      if (status >= 300) {
        target.refused.push(`send: ${key} was answered with ${status} ${JSON.stringify(body)}`);
        target.open.delete(key);
        return;
      }
      target.acknowledged.set(key, (target.acknowledged.get(key) ?? new Set()).add(body.runId));
      target.open.delete(key);
    } catch (error) {
      if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    }
  }

  /** Follows a session like a browser: comes back with the last id it saw. */
  async #read(sessionId: string, events: RawEvent[]): Promise<void> {
    let lastEventId = '';
    while (!this.#ended) {
      const stream = new AbortController();
      this.#streams.add(stream);
      const { signal } = stream;
      const reader = new RawReader();
      const headers = {
        authorization: `Bearer ${TOKEN}`,
        ...(lastEventId && { 'last-event-id': lastEventId }),
      };
      try {
        const response = await fetch(`${this.#url}/events?sessionId=${sessionId}&from=earliest`, {
          headers,
          signal,
        });
        for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
          for (const { event, id, data } of reader.feed(chunk)) {
            if (id !== undefined) lastEventId = id;
            events.push({ event, data });
          }
        }
      } catch {
        // The gateway was killed; it comes back.
      }
      this.#streams.delete(stream);
      if (!this.#ended) await delay(20);
    }
  }

  /** Waits until every run has ended and every reader has everything, or until it takes too long for that to come. */
  async #rest(restMs: number): Promise<void> {
    const deadline = performance.now() + restMs;
    for (;;) {
      for (const target of this.#targets)
        target.log = await this.#logOf(target.id, Math.max(READ_MS, restMs));
      const resting = this.#targets.every(({ log, readers }) => {
        const runs = new Set(log.flatMap(({ data }) => data.runId ?? []));
        const ends = log.filter(({ event }) => event === 'message_end').length;
        return (
          ends >= runs.size &&
          readers.every((events) => events.some(({ data }) => data.cursor === log.at(-1)?.data.cursor))
        );
      });
      if (resting || performance.now() > deadline) return;
      await delay(100);
    }
  }

  /** The whole log, as it is now. */
  async #logOf(sessionId: string, patienceMs: number): Promise<RawEvent[]> {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const abort = new AbortController();
    const events: RawEvent[] = [];
    const response = await fetch(`${this.#url}/events?sessionId=${sessionId}&from=earliest`, {
      headers,
      signal: abort.signal,
    });
    const reader = new RawReader();
    let head = Number.POSITIVE_INFINITY;
    // A log with a hole has no end that could be reached.
    const patience = setTimeout(() => abort.abort(), patienceMs);
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        for (const { event, data } of reader.feed(chunk)) {
          if (event === 'connected') head = data.sessions[sessionId].head;
          else if (event !== 'heartbeat' && events.length < head) events.push({ event, data });
        }
        if (events.length >= head) break;
      }
    } catch (error) {
      if (!abort.signal.aborted) throw error;
    }
    clearTimeout(patience);
    abort.abort();
    return events;
  }
}
