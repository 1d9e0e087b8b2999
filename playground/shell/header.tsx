import { useConnection } from 'agent-session-gateway/client/react';
import { useRecord } from '../timeline/use-record.js';
import { line } from './gateway.js';
import { hrefOf } from './route.js';
import { openTab } from './token.js';

const HEALTH = {
  online: 'Connected',
  connecting: 'Connecting',
  offline: 'Reconnecting',
  unauthorized: 'Refused',
};

/** What is always in sight: how the connection is, the button that cuts it, and what became of the events. */
export function Header({
  user,
  sessionId,
  lists,
  onLists,
  onSignOut,
}: {
  readonly user: string;
  readonly sessionId: string;
  readonly lists: boolean;
  readonly onLists: () => void;
  readonly onSignOut: () => void;
}) {
  const health = useConnection();
  const { account } = useRecord();
  const { lost, doubled } = account;
  return (
    <header className="top">
      <button type="button" className="menu" aria-expanded={lists} onClick={onLists}>
        <span aria-hidden="true">☰</span>
        <span className="unseen">Sessions</span>
      </button>
      <span className="brand">
        <Logo />
        <span className="word">Agent Session Gateway</span>
      </span>
      <span className="space" />
      <span className={`pill ${health}`} role="status">
        <span className="dot" aria-hidden="true" />
        <span className={health === 'online' ? 'word' : ''}>{HEALTH[health]}</span>
      </span>
      <span className={`pill tally ${lost + doubled > 0 ? 'unauthorized' : ''}`}>
        {lost} lost <span aria-hidden="true">·</span> {doubled} doubled
      </span>
      <button type="button" className="danger" onClick={() => line.cut()}>
        Cut <span className="word">connection</span>
      </button>
      <details className="account">
        <summary>{user}</summary>
        <div className="card">
          <button type="button" onClick={() => openTab(hrefOf({ view: 'chat', sessionId }))}>
            Another tab
          </button>
          <button type="button" onClick={onSignOut}>
            Use another token
          </button>
        </div>
      </details>
    </header>
  );
}

export function Logo() {
  return (
    <svg className="logo" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M7 16h7m4 0h7" strokeWidth="4" strokeLinecap="round" />
    </svg>
  );
}
