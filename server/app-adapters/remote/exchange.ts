/** A slice on its way to its app. */
export interface SentSlice {
  readonly id: string;
  /** Name of the app. */
  readonly app: string;
  /** The slice as JSON. */
  readonly body: string;
  /** Aborted when nobody reads the reply any more. */
  readonly signal: AbortSignal;
}

/** The way to an app: carries one slice there, and the bytes of its reply back. */
export interface Exchange {
  /**
   * Yields the pieces of the reply, to its end.
   *
   * @throws SliceDied if the app can't be reached, or breaks off; GatewayError `APP_REPLY_INVALID` for an answer that is no reply
   */
  carry(slice: SentSlice): AsyncIterable<Buffer>;
}
