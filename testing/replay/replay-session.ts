import type { LoggedEvent } from '../../client/index.js';
import {
  type RecordedCall,
  type RecordedTurn,
  type Redact,
  withoutSecrets,
} from '../../server/features/recording/index.js';
import { onTape, readOutput } from '../../server/features/recording/recording.js';
import { type Call, kept, type Tape } from '../../server/features/recording/tape.js';
import type { Application } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import type { TestClient } from '../test-client.js';
import { testGateway } from '../test-gateway.js';
import { canonical, sideBySide } from './compare.js';
import { fromExport } from './from-export.js';

/** A recorded session, and the app to run it against. */
export interface ReplayOptions {
  /** Lines of a record, as `recordInto` writes them, or their parsed values; or an export of a session's events. */
  readonly record: string | readonly RecordedTurn[];
  /** The present app. Its calls of models go through `modelFetch`. */
  readonly app: Application;
  /** The redaction that the record was made with. @default fields named like secrets are left out */
  readonly redact?: Redact | undefined;
  /** Whether answers may differ, as long as the app makes the same calls. @default false */
  readonly answersMayDiffer?: boolean | undefined;
}

/** The place where a replay diverged from the record. */
export interface Divergence {
  /** Number of the message, from 1. */
  readonly turn: number;
  readonly message: string;
  /** The call, such as `model /v1/chat/completions` or `tool refund`; `answer` for the answer's text. */
  readonly step: string;
  /** The number of the call in its turn, from 1. */
  readonly call?: number;
  readonly recorded: unknown;
  readonly now: unknown;
  /** Both values side by side, around the first difference. */
  readonly text: string;
}

/** The outcome of a replay. */
export interface ReplayResult {
  /** Number of turns that went as recorded. */
  readonly turns: number;
  /** The first divergence; undefined if there is none. */
  readonly divergence: Divergence | undefined;
}

/** The turns of a record, or of an export of events (`what: 'events'`), as text. @throws Error for any other text */
export function readRecord(text: string): RecordedTurn[] {
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as RecordedTurn | LoggedEvent);
  if (lines.length > 0 && lines.every((line) => 'type' in line)) return fromExport(lines as LoggedEvent[]);
  return lines.map((line, at) => {
    const turn = line as RecordedTurn;
    if (turn.version !== 1 || !Array.isArray(turn.calls))
      throw new Error(`Line ${at + 1} is no recorded turn`);
    return turn;
  });
}

/**
 * Runs a recorded session against the present app: the same messages, with answers of models, tools, steps and people from the record. Nothing real
 * is called. The replay ends at the first call or answer that differs from the record.
 *
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 *
 * const { divergence } = await replaySession({ record: await readFile('recordings/main.ndjson', 'utf8'), app });
 * if (divergence) throw new Error(divergence.text);
 * ```
 */
export async function replaySession(options: ReplayOptions): Promise<ReplayResult> {
  const { record, app, redact = withoutSecrets, answersMayDiffer = false } = options;
  const turns = typeof record === 'string' ? readRecord(record) : record;
  let playing: TapePlayer | undefined;
  const gateway = await testGateway({ app: onTape(app, () => ({ tape: playing! })) });
  try {
    const client = gateway.client();
    for (const [at, turn] of turns.entries()) {
      playing = new TapePlayer(turn, at + 1, redact);
      const stop = answerAsRecorded(client, playing);
      const { metadata, message } = turn;
      const { message: answer, stopReason } = await client.send(
        'replayed',
        message,
        metadata ? { metadata } : {},
      ).result;
      stop();
      const said = stopReason === 'error' ? 'the run failed' : textOf(answer);
      const divergence =
        playing.divergence ?? playing.leftOver() ?? (answersMayDiffer ? undefined : playing.inAnswer(said));
      if (divergence) return { turns: at, divergence };
    }
    return { turns: turns.length, divergence: undefined };
  } finally {
    await gateway.close();
  }
}

/** The tape of one turn under replay. */
class TapePlayer implements Tape {
  readonly #turn: RecordedTurn;
  readonly #number: number;
  readonly #redact: Redact;
  readonly #left: { readonly call: RecordedCall; readonly number: number }[];
  divergence: Divergence | undefined;

  constructor(turn: RecordedTurn, number: number, redact: Redact) {
    this.#turn = turn;
    this.#number = number;
    this.#redact = redact;
    this.#left = turn.calls.map((call, at) => ({ call, number: at + 1 }));
  }

  // Returns the recorded outcome of a step or tool without executing it.
  async call<T>(asked: Call): Promise<T> {
    const { kind, name } = asked;
    const input = kept(asked.input, this.#redact);
    const wanted = canonical({ kind, name, input });
    // Concurrent calls may come in another order.
    const at = this.#left.findIndex(
      ({ call }) => canonical({ kind: call.kind, name: call.name, input: call.input }) === wanted,
    );
    if (at < 0) throw this.#diverge({ kind, name, input });
    const { call } = this.#left.splice(at, 1)[0]!;
    if (call.error) throw new Error(call.error.message);
    return readOutput(call.output) as T;
  }

  /** The first unused recorded call of a kind and name, such as a person's answer in this turn. */
  recorded(kind: RecordedCall['kind'], name: string): RecordedCall | undefined {
    return this.#left.find(({ call }) => call.kind === kind && call.name === name)?.call;
  }

  leftOver(): Divergence | undefined {
    const [next] = this.#left;
    return next && this.#at(next.call, next.number, next.call, 'the app did not ask for it');
  }

  inAnswer(said: string): Divergence | undefined {
    const recorded = this.#turn.error ? 'the run failed' : (this.#turn.answer ?? '');
    if (recorded === said) return undefined;
    const { message } = this.#turn;
    const text = sideBySide(recorded, said);
    return { turn: this.#number, message, step: 'answer', recorded, now: said, text };
  }

  #diverge(now: Call): Error {
    const next =
      this.#left.find(({ call }) => call.kind === now.kind && call.name === now.name) ?? this.#left[0];
    const text = next ? next.call : 'the app asked for nothing more';
    this.divergence ??= this.#at(now, next?.number, text, now);
    return new Error(`Not as recorded: ${now.kind} ${now.name}`);
  }

  #at({ kind, name }: Call, call: number | undefined, recorded: unknown, now: unknown): Divergence {
    const plain = (value: unknown) =>
      typeof value === 'string'
        ? value
        : canonical({ [`${(value as Call).kind} ${(value as Call).name}`]: (value as Call).input });
    return {
      ...{ turn: this.#number, message: this.#turn.message, step: `${kind} ${name}` },
      ...(call !== undefined && { call }),
      ...{ recorded, now, text: sideBySide(plain(recorded), plain(now)) },
    };
  }
}

/** Answers the session's questions as the person did by the record. Approves a tool if the record has its call. */
function answerAsRecorded(client: TestClient, playing: TapePlayer): () => void {
  const watch = client.session('replayed').watch();
  const answered = new Set<string>();
  const look = (): void => {
    for (const asked of watch.getSnapshot().pending) {
      const { callId, name, kind } = asked;
      if (answered.has(callId)) continue;
      answered.add(callId);
      const tool = playing.recorded('tool', name);
      const answer = tool
        ? { approved: true, input: tool.input }
        : kind === 'confirmation'
          ? { approved: false }
          : { output: null };
      client
        .session('replayed')
        .respond(callId, answer)
        .catch(() => {});
    }
  };
  const stop = watch.subscribe(look);
  return stop;
}
