/** What a line of the log is about, as far as it is known. Ids and names alone: nothing that people wrote, and nothing secret. */
export interface LogFacts {
  readonly user?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly app?: string | undefined;
  readonly runId?: string | undefined;
  readonly operation?: string | undefined;
  readonly method?: string | undefined;
  readonly requestId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly transport?: string | undefined;
}

/** Tells the log and the gateway's listeners of a failure. */
export interface Report {
  (error: unknown, what: string, about?: LogFacts): void;
  /** Tells the log alone, of what is no failure of the gateway's and may be one of how it is set up. */
  warn?(what: string, about: LogFacts & Readonly<Record<string, unknown>>): void;
}
