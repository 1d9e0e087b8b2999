import { useConnection, useSession } from 'agent-session-gateway/client/react';
import {
  CodeXml,
  Menu as Lines,
  LogOut,
  PanelRight,
  SquareArrowOutUpRight,
  Unplug,
  Users,
} from 'lucide-react';
import { useEffect, useState } from 'react';
import { IconButton } from '../../templates/components/ui/icon-button.js';
import { Menu, MenuItem } from '../../templates/components/ui/menu.js';
import { isOverseen, isUnnamed } from '../../templates/components/ui/session-id.js';
import { Bell } from '../sessions/bell.js';
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

/** The header, which is always in sight: the user, the connection, the button that cuts it, and the counts of events. */
export function Header({
  user,
  sessionId,
  lists,
  onLists,
  panel,
  onPanel,
  code,
  onCode,
  onPeople,
  onSignOut,
}: {
  readonly user: string;
  readonly sessionId: string;
  readonly lists: boolean;
  readonly onLists: () => void;
  /** Whether the panel beside the conversation is open; undefined if there is no room for one. */
  readonly panel: boolean | undefined;
  readonly onPanel: () => void;
  /** Whether the page shows the call behind each control. */
  readonly code: boolean;
  readonly onCode: () => void;
  /** Shows who is there and what can be done about it, where there is no room for it. */
  readonly onPeople: () => void;
  readonly onSignOut: () => void;
}) {
  const health = useConnection();
  const name =
    useSession(sessionId, { select: (session) => session.title }) ??
    (isUnnamed(sessionId) ? 'New session' : isOverseen(sessionId) ? 'Session of another user' : sessionId);
  const { account, outages } = useRecord();
  const { lost, doubled } = account;
  return (
    <header className="top">
      <IconButton label="Sessions" icon={Lines} className="burger" aria-expanded={lists} onClick={onLists} />
      <Logo />
      <span className="place" dir="auto">
        {name}
      </span>
      <span className={`health ${health}`} role="status">
        <span className="dot" aria-hidden="true" />
        <span className="word">{HEALTH[health]}</span>
      </span>
      <Tally lost={lost} doubled={doubled} resumed={outages.length} />
      <IconButton label="Cut connection" icon={Unplug} className="cut" onClick={() => line.cut()} />
      <Bell sessionId={sessionId} name={name} />
      <IconButton
        label="Code"
        icon={CodeXml}
        className={`code-switch ${code ? 'on' : ''}`}
        aria-pressed={code}
        onClick={onCode}
      />
      {panel !== undefined && (
        <IconButton
          label="Panel"
          icon={PanelRight}
          className={panel ? 'on' : ''}
          aria-pressed={panel}
          onClick={onPanel}
        />
      )}
      <Menu label={`Account ${user}`} className="avatar" text={[...user].slice(0, 1).join('').toUpperCase()}>
        <MenuItem icon={Users} className="narrow" onChoose={onPeople}>
          People, take over, share
        </MenuItem>
        <MenuItem icon={Unplug} className="phone" onChoose={() => line.cut()}>
          Cut connection
        </MenuItem>
        <MenuItem icon={CodeXml} className="phone" onChoose={onCode}>
          {code ? 'Hide code' : 'Show code'}
        </MenuItem>
        <MenuItem icon={SquareArrowOutUpRight} onChoose={() => openTab(hrefOf({ view: 'chat', sessionId }))}>
          Another tab
        </MenuItem>
        <MenuItem icon={LogOut} onChoose={onSignOut}>
          Use another token
        </MenuItem>
      </Menu>
    </header>
  );
}

/** How long it is told that nothing was lost, in milliseconds. */
const TOLD_MS = 5000;

/** Told for a while after each cut, and always where something was lost or doubled. */
function Tally({ lost, doubled, resumed }: Readonly<Record<'lost' | 'doubled' | 'resumed', number>>) {
  const [told, setTold] = useState(resumed);
  useEffect(() => {
    const timer = setTimeout(() => setTold(resumed), TOLD_MS);
    return () => clearTimeout(timer);
  }, [resumed]);
  const isBad = lost + doubled > 0;
  if (!isBad && told === resumed) return null;
  return (
    <span className={`tally ${isBad ? 'bad' : 'good'}`}>
      {!isBad && 'resumed: '}
      {lost} lost <span aria-hidden="true">·</span> {doubled} doubled
    </span>
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
