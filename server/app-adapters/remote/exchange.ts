/** A slice on its way to its app. */
export interface SentSlice {
  readonly id: string;
  /** The slice as JSON. */
  readonly body: string;
  /** Aborted when nobody reads the reply any more, with the reason: `done`, or a fault. */
  readonly signal: AbortSignal;
  /** The reason for which the signal of a slice aborts that ended well. */
  readonly done: unknown;
  /** Called when the app gets the slice: its time begins. */
  began(): void;
  /** Takes a piece of the reply. The next one waits until its promise, if there is one, is settled. Does not throw. */
  take(piece: Buffer): Promise<void> | undefined;
}

/** The way to an app: carries one slice there, and the bytes of its reply back. */
export interface SliceExchange {
  /** Ends the ids of its slices: says where their replies are read. */
  readonly mark?: string;
  /**
   * Resolves once the reply has ended, or nobody reads it.
   *
   * @throws SliceDied if the app can't be reached, or breaks off; GatewayError `APP_REPLY_INVALID` for an answer that is no reply
   */
  carry(slice: SentSlice): Promise<void>;
}
