import { useInbox } from 'agent-session-gateway/client/react';
import { Bell as BellIcon } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { Inbox } from '../../templates/components/inbox/inbox.js';
import { IconButton } from '../../templates/components/ui/icon-button.js';
import { place } from '../../templates/components/ui/place.js';
import { Code } from '../shell/code.js';
import { hrefOf } from '../shell/route.js';

/** The unread count of all other sessions, which the tab's title has too, and the list of sessions with anything unread. */
export function Bell({ sessionId, name }: { readonly sessionId: string; readonly name: string }) {
  const { unread, waiting, sessions } = useInbox();
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  // The shown session needs no sign.
  const shown = sessions.find((row) => row.sessionId === sessionId);
  const total = unread + waiting - (shown ? shown.unread + shown.waiting : 0);
  useEffect(() => {
    document.title = `${total > 0 ? `(${total}) ` : ''}${name} · Playground`;
  }, [name, total]);
  return (
    <span className="bell">
      <IconButton
        ref={button}
        label={total > 0 ? `Inbox, ${total} new` : 'Inbox'}
        icon={BellIcon}
        aria-expanded={isOpen}
        popoverTarget={id}
      />
      {total > 0 && (
        <span className="count" aria-hidden="true">
          {total > 99 ? '99+' : total}
        </span>
      )}
      <div
        id={id}
        ref={panel}
        popover="auto"
        className="popover"
        onToggle={({ newState }) => {
          setOpen(newState === 'open');
          if (newState === 'open') place(panel.current!, button.current!, 'end');
        }}
      >
        <Inbox
          current={sessionId}
          onOpen={(to) => {
            panel.current!.hidePopover();
            location.hash = hrefOf({ view: 'chat', sessionId: to });
          }}
        />
        <Code what="read the inbox" of={({ inboxRecipe }) => inboxRecipe()} />
      </div>
    </span>
  );
}
