import type { ReactNode } from 'react';

interface RunRowProps {
  /** `running`, `waiting`, `queued`, `done`, or how it ended otherwise. */
  readonly state: string;
  /** What it answers. */
  readonly title: string;
  readonly app?: string | undefined;
  /** Ends it, where it goes on. */
  readonly onAbort?: () => void;
  /** The runs that it began. */
  readonly below?: ReactNode;
  readonly children: ReactNode;
}

/** One run of the list. */
export function RunRow({ state, title, app, onAbort, below, children }: RunRowProps) {
  return (
    <li data-state={state}>
      <p>
        <span dir="auto">{title}</span>
        <small>
          <b>{state.replaceAll('_', ' ')}</b>
          {app && <span>{app}</span>}
          {children}
        </small>
      </p>
      {onAbort && (
        <button type="button" aria-label={`Abort: ${title}`} onClick={onAbort}>
          Abort
        </button>
      )}
      {below && <ol>{below}</ol>}
    </li>
  );
}
