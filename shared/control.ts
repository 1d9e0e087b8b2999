/** A person who speaks in a session in place of its app. */
export interface Control {
  /** Id of the user. */
  readonly by: string;
  /** In milliseconds since the epoch. */
  readonly since: number;
  /** When it falls back to the app, in milliseconds since the epoch. */
  readonly until?: number;
  readonly reason?: string;
  /** The grant by which that person reached the session. Control ends with it. */
  readonly grantId?: string;
}

/** A move of control, as logged. */
export interface ControlMove {
  /** Id of the user who now has control; null for the app. */
  readonly to: string | null;
  /** Id of the user who moved it; `gateway` if its time ran out, or the grant of who had it ended. */
  readonly by: string;
  readonly reason?: string;
  /** A note by the person who hands back, for later readers. */
  readonly note?: string;
  readonly until?: number;
  /** Control expired before anybody handed it back. */
  readonly expired?: true;
  /** The owner of the session handed it back for who had it. */
  readonly forced?: true;
  /** The grant by which control was taken, or with which it ended. */
  readonly grantId?: string;
}

/** An app asks for a person. */
export interface HandOff {
  readonly reason?: string;
  /** Roles that are asked. @default everybody who may take over */
  readonly roles?: readonly string[];
}

/** A hand-off that an app requested and nobody has answered yet. */
export interface RequestedHandOff extends HandOff {
  readonly runId: string;
  /** When it asked, in milliseconds since the epoch. */
  readonly ts: number;
}
