/** One result of an examination. */
export interface Finding {
  /** `problem`: something does not work. `warning`: something may not work in some cases. */
  readonly status: 'ok' | 'warning' | 'problem';
  /** The examined thing. */
  readonly about: string;
  /** The observation. */
  readonly text: string;
  /** The remedy. */
  readonly fix?: string;
}

export function ok(about: string, text: string): Finding {
  return { status: 'ok', about, text };
}

export function warning(about: string, text: string, fix: string): Finding {
  return { status: 'warning', about, text, fix };
}

export function problem(about: string, text: string, fix: string): Finding {
  return { status: 'problem', about, text, fix };
}
