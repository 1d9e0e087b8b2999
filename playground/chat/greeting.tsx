import type { AppSummary } from 'agent-session-gateway/client';
import type { SessionView } from 'agent-session-gateway/client/react';
import { useApps } from '../shell/catalogue.js';
import { settings } from '../shell/settings.js';

/** Example messages for the demo app, and the feature that each shows. */
const DEMO: readonly (readonly [text: string, shows: string])[] = [
  ['story', 'A long answer: cut it, steer it, stop it'],
  ['weather in Oslo', 'Calls a tool, and shows what it returned'],
  ['research bees', 'Has three helpers work at once, each a run of its own'],
  ['delete report.txt', 'Asks for your consent first'],
];

/** The content of an empty session: its app, and example messages. */
export function Greeting({
  sessionId,
  send,
}: {
  readonly sessionId: string;
  readonly send: SessionView['send'];
}) {
  const app = appOf(useApps(), sessionId);
  const ideas = app?.name === 'demo' ? DEMO : ([['Hello', 'See what it answers']] as const);
  return (
    <div className="greeting">
      <h2>{app?.name ?? 'New session'}</h2>
      {app?.description && <p className="muted">{app.description}</p>}
      {app && app.tools.length > 0 && (
        <p className="tools">
          {app.tools.map(({ name }) => (
            <code key={name}>{name}</code>
          ))}
        </p>
      )}
      {!settings.readOnly && (
        <ul className="ideas">
          {ideas.map(([text, shows]) => (
            <li key={text}>
              <button type="button" onClick={() => void send(text)}>
                <strong>{text}</strong>
                <small>{shows}</small>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The app of a session: the one that its key begins with, or the default app. */
export function appOf(apps: readonly AppSummary[] | undefined, sessionId: string): AppSummary | undefined {
  const at = sessionId.indexOf(':');
  return apps?.find(({ name, isDefault }) => (at < 0 ? isDefault : name === sessionId.slice(0, at)));
}
