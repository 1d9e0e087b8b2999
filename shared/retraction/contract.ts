/** The person who takes a message back, and the reason. Readers see both. */
export interface RetractOptions {
  /** Id of the person, or whatever name the host gives. */
  readonly by?: string;
  readonly reason?: string;
}

/** The operations that take messages back. */
export interface RetractionOperations {
  retract: {
    params: { readonly sessionId: string; readonly messageId: string; readonly reason?: string | undefined };
    result: { readonly ok: true };
  };
}

/** The event of it that causes a notice, by the name of the notice's kind. */
export const RETRACTION_CAUSES = ['message_retracted'] as const;

/** The fields of these notices. */
export interface RetractionCauseFields {
  /** The message that was taken back (`message_retracted`). */
  readonly messageId?: string;
  /** Why, if somebody said so (`message_retracted`). */
  readonly reason?: string;
}

/** Its operations, which only an entry of their own calls (`shared/calls.ts`). */
export const RETRACTION_NAMED = ['retract'] as const;

/** The calls on a session that host code has and no client: the same in another's name. */
export interface RetractionHostCalls {
  retract: {
    params: RetractOptions & { readonly sessionId: string; readonly messageId: string };
    result: { readonly ok: true };
  };
}

/** Takes messages back, for host code. */
export interface RetractionHandle {
  /**
   * Takes a message back, whoever wrote it: every page, the history, exports and the store have it without its content from then on, forks of the session
   * too. A run that writes it, or answers it, ends as `moderated`. The session's events up to here are dropped: readers that lack some get a
   * snapshot in their place.
   *
   * @throws GatewayError `MESSAGE_NOT_FOUND`
   */
  retract(messageId: string, options?: RetractOptions): Promise<void>;
}
