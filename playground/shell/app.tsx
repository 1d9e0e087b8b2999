import { GatewayProvider } from 'agent-session-gateway/client/react';
import {
  BellRing,
  BookOpenText,
  ChartNoAxesGantt,
  type LucideIcon,
  MessageSquare,
  SquareFunction,
  Network as Wires,
} from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { Chat } from '../../templates/components/chat/chat.js';
import { People } from '../../templates/components/share/people.js';
import { AroundProvider } from '../../templates/components/ui/around.js';
import { Methods } from '../methods/methods.js';
import { Network } from '../network/network.js';
import { Notices } from '../notices/notices.js';
import { Reference } from '../reference/reference.js';
import { Sessions } from '../sessions/sessions.js';
import { Timeline } from '../timeline/timeline.js';
import { RecordProvider, useRecording } from '../timeline/use-record.js';
import { around } from './around.js';
import { CodeProvider } from './code.js';
import { openClient, type TransportName } from './gateway.js';
import { Header } from './header.js';
import { useKept } from './kept.js';
import { hrefOf, useRoute, VIEWS, type View } from './route.js';
import { useMedia } from './use-media.js';
import { ViewBoundary } from './view-boundary.js';

const NAMES: Record<View, readonly [name: string, icon: LucideIcon]> = {
  chat: ['Chat', MessageSquare],
  network: ['Network', Wires],
  timeline: ['Timeline', ChartNoAxesGantt],
  notices: ['Notices', BellRing],
  methods: ['Methods', SquareFunction],
  reference: ['API', BookOpenText],
};

const openSession = (sessionId: string): void => {
  location.hash = hrefOf({ view: 'chat', sessionId });
};

interface Standing {
  readonly user: string;
  readonly onSignOut: () => void;
}

/** The page, once its user is known. */
export function App(standing: Standing) {
  const [transport, setTransport] = useState<TransportName>('sse');
  const client = useMemo(() => openClient(transport), [transport]);
  useEffect(() => () => client.disconnect(), [client]);
  return (
    <GatewayProvider client={client}>
      <Page transport={transport} onTransport={setTransport} {...standing} />
    </GatewayProvider>
  );
}

function Page({
  transport,
  onTransport,
  ...standing
}: Standing & {
  readonly transport: TransportName;
  readonly onTransport: (transport: TransportName) => void;
}) {
  const route = useRoute();
  const { sessionId } = route;
  const record = useRecording(sessionId);
  const isWide = useMedia('(min-width: 70rem)');
  const [lists, setLists] = useState(false);
  const [panel, setPanel] = useKept<'open' | 'closed'>('panel', 'open');
  const [shown, setShown] = useKept<'code' | 'none'>('code', 'none');
  const [language, onLanguage] = useKept<'sdk' | 'curl'>('language', 'sdk');
  // biome-ignore lint/correctness/useExhaustiveDependencies: it only keeps what it is given
  const code = useMemo(() => ({ shown: shown === 'code', language, onLanguage }), [shown, language]);
  // A wide window always shows the conversation, with the chosen view beside it.
  const view = isWide && route.view === 'chat' ? 'network' : route.view;
  const hasPane = !isWide || panel === 'open';
  return (
    <RecordProvider value={record}>
      <AroundProvider value={around}>
        <CodeProvider value={code}>
          <div className={`asg page ${lists ? 'lists' : ''}`}>
            <Header
              {...standing}
              sessionId={sessionId}
              lists={lists}
              onLists={() => setLists((before) => !before)}
              panel={isWide ? hasPane : undefined}
              onPanel={() => setPanel(hasPane ? 'closed' : 'open')}
              code={code.shown}
              onCode={() => setShown(code.shown ? 'none' : 'code')}
            />
            <aside className="side" aria-label="Sessions">
              <ViewBoundary of="sessions">
                <Sessions route={route} onChosen={() => setLists(false)} />
              </ViewBoundary>
            </aside>
            <main className={hasPane ? '' : 'alone'}>
              <h1 className="unseen">Playground: {sessionId}</h1>
              {(isWide || view === 'chat') && (
                <ViewBoundary of={`chat ${sessionId}`}>
                  <Chat
                    key={sessionId}
                    id={sessionId}
                    user={standing.user}
                    onOpen={openSession}
                    bar={(presence) => <People id={sessionId} user={standing.user} presence={presence} />}
                  />
                </ViewBoundary>
              )}
              {hasPane && (
                <div className={`pane ${view === 'chat' ? 'bare' : ''}`}>
                  <Views view={view} sessionId={sessionId} isWide={isWide} />
                  <ViewBoundary of={`${view} ${sessionId}`}>
                    {view === 'timeline' && <Timeline key={sessionId} sessionId={sessionId} />}
                    {view === 'network' && <Network transport={transport} onTransport={onTransport} />}
                    {view === 'notices' && <Notices key={sessionId} sessionId={sessionId} />}
                    {view === 'methods' && <Methods key={sessionId} sessionId={sessionId} />}
                    {view === 'reference' && <Reference />}
                  </ViewBoundary>
                </div>
              )}
            </main>
          </div>
        </CodeProvider>
      </AroundProvider>
    </RecordProvider>
  );
}

function Views({
  view,
  sessionId,
  isWide,
}: {
  readonly view: View;
  readonly sessionId: string;
  readonly isWide: boolean;
}) {
  return (
    <nav className="views" aria-label="Views">
      {VIEWS.filter((each) => !isWide || each !== 'chat').map((each) => {
        const [name, Icon] = NAMES[each];
        return (
          <a
            key={each}
            href={hrefOf({ view: each, sessionId })}
            aria-current={each === view ? 'page' : undefined}
          >
            <Icon aria-hidden="true" />
            {name}
          </a>
        );
      })}
    </nav>
  );
}
