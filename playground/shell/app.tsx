import { GatewayProvider } from 'agent-session-gateway/client/react';
import { useEffect, useMemo, useState } from 'react';
import { Chat } from '../chat/chat.js';
import { Methods } from '../methods/methods.js';
import { Network } from '../network/network.js';
import { Reference } from '../reference/reference.js';
import { Sessions } from '../sessions/sessions.js';
import { Timeline } from '../timeline/timeline.js';
import { RecordProvider, useRecording } from '../timeline/use-record.js';
import { openClient, type TransportName } from './gateway.js';
import { Header } from './header.js';
import { hrefOf, useRoute, VIEWS, type View } from './route.js';
import { useMedia } from './use-media.js';

const NAMES: Record<View, string> = {
  chat: 'Chat',
  timeline: 'Timeline',
  network: 'Network',
  methods: 'Methods',
  reference: 'API',
};

/** The page, once it is known who uses it. */
export function App({ user, onSignOut }: { readonly user: string; readonly onSignOut: () => void }) {
  const [transport, setTransport] = useState<TransportName>('sse');
  const client = useMemo(() => openClient(transport), [transport]);
  useEffect(() => () => client.disconnect(), [client]);
  return (
    <GatewayProvider client={client}>
      <Page transport={transport} onTransport={setTransport} user={user} onSignOut={onSignOut} />
    </GatewayProvider>
  );
}

function Page({
  transport,
  onTransport,
  user,
  onSignOut,
}: {
  readonly transport: TransportName;
  readonly onTransport: (transport: TransportName) => void;
  readonly user: string;
  readonly onSignOut: () => void;
}) {
  const route = useRoute();
  const { sessionId } = route;
  const record = useRecording(sessionId);
  const isWide = useMedia('(min-width: 70rem)');
  const [lists, setLists] = useState(false);
  // Where there is room the conversation stays beside whatever else is looked at.
  const view = isWide && route.view === 'chat' ? 'network' : route.view;
  const views = isWide ? VIEWS.filter((each) => each !== 'chat') : VIEWS;
  return (
    <RecordProvider value={record}>
      <div className={`page ${lists ? 'lists' : ''}`}>
        <Header
          user={user}
          onSignOut={onSignOut}
          sessionId={sessionId}
          lists={lists}
          onLists={() => setLists((before) => !before)}
        />
        <aside className="side">
          <Sessions route={route} onChosen={() => setLists(false)} />
        </aside>
        <main>
          <h1 className="unseen">Playground: {sessionId}</h1>
          {(isWide || view === 'chat') && <Chat key={sessionId} sessionId={sessionId} />}
          <div className={`pane ${view === 'chat' ? 'bare' : ''}`}>
            <nav className="views" aria-label="Views">
              {views.map((each) => (
                <a
                  key={each}
                  href={hrefOf({ view: each, sessionId })}
                  aria-current={each === view ? 'page' : undefined}
                >
                  {NAMES[each]}
                </a>
              ))}
            </nav>
            {view === 'timeline' && <Timeline key={sessionId} sessionId={sessionId} />}
            {view === 'network' && <Network transport={transport} onTransport={onTransport} />}
            {view === 'methods' && <Methods key={sessionId} sessionId={sessionId} />}
            {view === 'reference' && <Reference />}
          </div>
        </main>
      </div>
    </RecordProvider>
  );
}
