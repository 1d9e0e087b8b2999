/** What an examination has found. */
export interface Finding {
  /** `problem`: something does not work. `warning`: something will not, in some cases. */
  readonly status: 'ok' | 'warning' | 'problem';
  /** What was looked at. */
  readonly about: string;
  /** What is the case. */
  readonly text: string;
  /** What to do about it. */
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
