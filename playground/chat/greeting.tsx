import type { AppSummary } from 'agent-session-gateway/client';
import type { SessionView } from 'agent-session-gateway/client/react';
import { useApps } from '../shell/catalogue.js';
import { settings } from '../shell/settings.js';

/** What an empty session begins with: which app it is of, and what can be said to it. */
export function Greeting({
  sessionId,
  send,
}: {
  readonly sessionId: string;
  readonly send: SessionView['send'];
}) {
  const app = appOf(useApps(), sessionId);
  const ideas = app?.name === 'demo' ? ['story', 'weather in Oslo', 'delete report.txt'] : ['Hello'];
  return (
    <div className="greeting">
      <h2>{app?.name ?? 'New session'}</h2>
      {app?.description && <p>{app.description}</p>}
      {app && app.tools.length > 0 && (
        <p className="muted">Tools: {app.tools.map(({ name }) => name).join(', ')}</p>
      )}
      {!settings.readOnly && (
        <p className="ideas">
          {ideas.map((idea) => (
            <button key={idea} type="button" onClick={() => void send(idea)}>
              {idea}
            </button>
          ))}
        </p>
      )}
    </div>
  );
}

/** The app of a session: what its key begins with, or the default one. */
export function appOf(apps: readonly AppSummary[] | undefined, sessionId: string): AppSummary | undefined {
  const at = sessionId.indexOf(':');
  return apps?.find(({ name, isDefault }) => (at < 0 ? isDefault : name === sessionId.slice(0, at)));
}
