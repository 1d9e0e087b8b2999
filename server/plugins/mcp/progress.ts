import type { ToolProgressListener } from '../../sessions/session-calls.js';

type Progress = Parameters<ToolProgressListener>[0];

/** A progress report of MCP. */
export interface ProgressParams {
  readonly progress: number;
  readonly total?: number;
  readonly message?: string;
}

/** Passes on the progress of one call: the last report of an event-loop turn, and only increasing values, as MCP demands. */
export class ProgressRelay {
  readonly #send: (progress: ProgressParams) => Promise<void>;
  #last = Number.NEGATIVE_INFINITY;
  #waiting: ProgressParams | null = null;
  #timer: NodeJS.Immediate | undefined;

  constructor(send: (progress: ProgressParams) => Promise<void>) {
    this.#send = send;
  }

  readonly report = ({ value, total, message }: Progress): void => {
    if (!(value > this.#last)) return;
    this.#last = value;
    this.#waiting = {
      progress: value,
      ...(Number.isFinite(total) && { total: total! }),
      ...(message !== undefined && { message }),
    };
    this.#timer ??= setImmediate(() => void this.flush());
  };

  /** Sends the pending report, which a result must not overtake. */
  async flush(): Promise<void> {
    clearImmediate(this.#timer);
    this.#timer = undefined;
    const progress = this.#waiting;
    this.#waiting = null;
    // A client that is gone hears nothing.
    if (progress) await this.#send(progress).catch(() => {});
  }
}
