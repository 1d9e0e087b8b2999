/** The fields that tell what a log line is about, as far as known. Only ids and names: no text of people, and no secrets. */
export interface LogFacts {
  readonly user?: string | undefined;
  /** The scope of the session: keys such as `main` are many people's. */
  readonly scope?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly app?: string | undefined;
  readonly runId?: string | undefined;
  readonly operation?: string | undefined;
  readonly method?: string | undefined;
  readonly requestId?: string | undefined;
  readonly traceId?: string | undefined;
  readonly transport?: string | undefined;
}

/** Reports a failure to the log and the gateway's listeners. */
export interface Report {
  (error: unknown, what: string, about?: LogFacts): void;
  /** Logs a fact that is no failure of the gateway, but may be one of its configuration. */
  warn?(what: string, about: LogFacts & Readonly<Record<string, unknown>>): void;
}
