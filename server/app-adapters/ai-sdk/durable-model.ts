import { AsyncLocalStorage } from 'node:async_hooks';
import type { LanguageModel } from 'ai';
import type { Turn } from '../../apps/application.js';
import { type ModelPart, namedModel, type StreamResult, wrapStream } from './wrapped-model.js';

/** An answer of the model that has begun. It is complete once all of its stream has passed and was read. */
export class BegunAnswer {
  readonly whole: Promise<void>;
  #resolve!: () => void;
  #passed: number | null = null;
  #read: number | null = null;

  constructor() {
    this.whole = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Counts more characters as read. */
  read(length: number): void {
    this.#read = (this.#read ?? 0) + length;
    this.#check();
  }

  /** Notes that the model has finished after this many characters. */
  passed(length: number): void {
    this.#passed = length;
    this.#check();
  }

  /** Ends the answer: nothing more of it will be read. */
  end(): void {
    this.#resolve();
  }

  #check(): void {
    // Do not wait for the stream's end: tools that the answer calls may run for long.
    if (this.#read !== null && this.#passed !== null && this.#read >= this.#passed) this.#resolve();
  }
}

/** The outcome of a model's step. */
type ModelOutcome =
  | { readonly parts: readonly ModelPart[] }
  | { readonly failed: string; readonly retryable: boolean };

type ModelSdk = Pick<typeof import('ai'), 'APICallError' | 'gateway'>;

/** The answers of the model in one run, each of which is a step. */
export class ModelSteps {
  readonly #turn: Turn;
  readonly #sdk: ModelSdk;
  /** Answers that have begun and are not read yet, in order. */
  readonly #begun: BegunAnswer[] = [];
  #last: Promise<unknown> = Promise.resolve();
  #former = false;

  constructor(turn: Turn, sdk: ModelSdk) {
    this.#turn = turn;
    this.#sdk = sdk;
  }

  /** The answer whose first part is read next. */
  next(): BegunAnswer | undefined {
    return this.#begun.shift();
  }

  /** Whether the model's last answer failed in a former process. */
  get failedBefore(): boolean {
    return this.#former;
  }

  /** Resolves when the model's last answer is complete. Its calls are made only then, because a truncated answer may be repeated with other calls. */
  get answered(): Promise<unknown> {
    return this.#last;
  }

  /** Wraps a model so that its answers are steps. */
  wrap(given: LanguageModel): LanguageModel {
    const model = typeof given === 'string' ? namedModel(given, this.#sdk) : given;
    return wrapStream(model, (ask) => this.#stream(ask));
  }

  #stream(call: () => PromiseLike<StreamResult>): Promise<StreamResult> {
    // The stream is read, and tools are called, in the async context of the caller and not of the step.
    const outside = AsyncLocalStorage.snapshot();
    return new Promise((resolve, reject) => {
      let live = false;
      this.#former = false;
      const step = this.#turn.step('model', async (): Promise<ModelOutcome> => {
        live = true;
        let result: StreamResult;
        try {
          result = await outside(call);
        } catch (error) {
          reject(error);
          // The SDK may retry the call, and does so again when the run resumes.
          const retryable = this.#sdk.APICallError.isInstance(error) && error.isRetryable;
          return { failed: String((error as Error)?.message), retryable };
        }
        const answer = new BegunAnswer();
        this.#begun.push(answer);
        const record = new StreamRecorder();
        outside(() => resolve({ ...result, stream: result.stream.pipeThrough(record.stream) }));
        try {
          await record.whole;
        } catch (error) {
          // The answer is taken back first, because a process that gets this outcome does not do so.
          await answer.whole;
          throw error;
        }
        answer.passed(record.length);
        await answer.whole;
        return { parts: record.parts };
      });
      this.#last = step.catch(() => {});
      const again = (error: Error): void => {
        this.#former = !live;
        reject(error);
      };
      step.then((outcome) => {
        if (live) return;
        if ('failed' in outcome) return again(this.#failure(outcome));
        this.#begun.push(new BegunAnswer());
        resolve({ stream: streamOf(outcome.parts.map(revived)) });
      }, again);
    });
  }

  #failure({ failed, retryable }: { readonly failed: string; readonly retryable: boolean }): Error {
    const { APICallError } = this.#sdk;
    // The former process has waited before its retry, so this one need not.
    const responseHeaders = { 'retry-after-ms': '0' };
    const error = { message: failed, url: '', requestBodyValues: {}, isRetryable: retryable };
    return new APICallError({ ...error, responseHeaders });
  }
}

/** Records the parts that pass through a stream. */
class StreamRecorder {
  readonly parts: ModelPart[] = [];
  /** Characters of text and reasoning. */
  length = 0;
  readonly stream: TransformStream<ModelPart, ModelPart>;
  /** Resolves when the whole stream has passed. Rejects on a part that reports a failure. */
  readonly whole: Promise<void>;

  constructor() {
    let passed = (): void => {};
    let failed = (_error: unknown): void => {};
    this.whole = new Promise((resolve, reject) => {
      passed = resolve;
      failed = reject;
    });
    this.stream = new TransformStream<ModelPart, ModelPart>({
      transform: (part, controller) => {
        if (part.type === 'error') failed(part.error);
        this.#add(part);
        controller.enqueue(part);
      },
      flush: () => passed(),
    });
  }

  #add(part: ModelPart): void {
    if (part.type === 'text-delta' || part.type === 'reasoning-delta')
      this.length += String(part.delta).length;
    if (part.type === 'raw' || part.type === 'error') return;
    const last = this.parts.at(-1);
    // Join the many pieces of one text into one part.
    if (
      part.type.endsWith('-delta') &&
      last?.type === part.type &&
      last.id === part.id &&
      !part.providerMetadata
    )
      this.parts[this.parts.length - 1] = { ...last, delta: `${last.delta}${part.delta}` };
    else this.parts.push(packed(part));
  }
}

/** A part with the bytes of a file in a form that JSON keeps. */
function packed(part: ModelPart): ModelPart {
  return part.data instanceof Uint8Array
    ? { ...part, data: Buffer.from(part.data).toString('base64') }
    : part;
}

function revived(part: ModelPart): ModelPart {
  const { timestamp } = part;
  return typeof timestamp === 'string' ? { ...part, timestamp: new Date(timestamp) } : part;
}

function streamOf(parts: readonly ModelPart[]): ReadableStream<ModelPart> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) controller.enqueue(part);
      controller.close();
    },
  });
}
