/** A person who speaks in a session in the place of its app. */
export interface Control {
  /** Id of the user. */
  readonly by: string;
  /** In milliseconds since the epoch. */
  readonly since: number;
  /** When it falls back to the app, in milliseconds since the epoch. */
  readonly until?: number;
  readonly reason?: string;
}

/** What the log says where control moves. */
export interface ControlMove {
  /** Id of the user who has it from here on; null: the app has. */
  readonly to: string | null;
  /** Id of the user who moved it; `gateway` where its time was over. */
  readonly by: string;
  readonly reason?: string;
  /** Of who hands back, for whoever reads on. */
  readonly note?: string;
  readonly until?: number;
  /** Nobody has handed it back in time. */
  readonly expired?: true;
}

/** An app asks for a person. */
export interface HandOff {
  readonly reason?: string;
  /** Roles of those who are asked. @default everybody who may take over */
  readonly roles?: readonly string[];
}

/** An app that has asked for a person, whom nobody has answered yet. */
export interface RequestedHandOff extends HandOff {
  readonly runId: string;
  /** When it asked, in milliseconds since the epoch. */
  readonly ts: number;
}
