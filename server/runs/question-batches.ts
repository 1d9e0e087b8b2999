import type { LogWriter } from '../log/log-writer.js';

/** The batches of a run's questions. Those in one append form one batch, named after the first, so that readers can show them together and know the last. */
export class QuestionBatches {
  readonly #log: Pick<LogWriter, 'gathering'>;
  /** The batch of the last question, and the append that it belongs to. */
  #last: { readonly with: object | null; readonly batch: string } | null = null;

  constructor(log: Pick<LogWriter, 'gathering'>) {
    this.#log = log;
  }

  /** The batch of the next question. */
  of({ callId }: { readonly callId: string }): string {
    const { gathering } = this.#log;
    return gathering !== null && gathering === this.#last?.with ? this.#last.batch : callId;
  }

  /** Notes the batch of a question that was appended. */
  note(batch: string): void {
    this.#last = { with: this.#log.gathering, batch };
  }
}

/** Numbers of nameless things of one kind, such as calls of `spawn` without an id. The same calls have the same numbers after a restart. */
export class Numbers {
  #counts: Map<string, number> | null = null;

  next(name: string): number {
    this.#counts ??= new Map();
    const number = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, number);
    return number;
  }
}
