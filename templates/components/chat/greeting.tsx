import type { AppSummary } from 'agent-session-gateway/client';
import type { SessionView } from 'agent-session-gateway/client/react';
import { appOf, useApps } from '../ui/apps.js';
import { useAround } from '../ui/around.js';

/** A message to begin with: its text, or its text and what comes of it. */
export type Suggestion = string | NonNullable<AppSummary['suggestions']>[number];

/** The content of an empty session: what its app is for, and messages to begin with. */
export function Greeting({
  sessionId,
  suggestions,
  send,
}: {
  readonly sessionId: string;
  readonly suggestions: readonly Suggestion[] | undefined;
  readonly send: SessionView['send'];
}) {
  const { readOnly } = useAround();
  const app = appOf(useApps(), sessionId);
  const ideas = (suggestions ?? app?.suggestions ?? []).map((each) =>
    typeof each === 'string' ? { text: each } : each,
  );
  return (
    <div className="greeting">
      <h2>{app?.description ?? app?.name ?? 'New session'}</h2>
      {!readOnly && ideas.length > 0 && (
        <ul className="ideas">
          {ideas.map(({ text, shows }) => (
            <li key={text}>
              <button type="button" onClick={() => void send(text)}>
                <strong>{text}</strong>
                {shows && <small>{shows}</small>}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
