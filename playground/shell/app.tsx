import { GatewayProvider } from 'agent-session-gateway/client/react';
import {
  BellRing,
  BookOpenText,
  CalendarClock,
  ChartNoAxesGantt,
  type LucideIcon,
  MessageSquare,
  SquareFunction,
  Network as Wires,
} from 'lucide-react';
import { lazy, Suspense, useCallback, useEffect, useMemo, useState } from 'react';
import { Chat } from '../../templates/components/chat/chat.js';
import { UsageLine } from '../../templates/components/message/usage.js';
import { People } from '../../templates/components/share/people.js';
import { AroundProvider } from '../../templates/components/ui/around.js';
import { isOverseen, newSessionId } from '../../templates/components/ui/session-id.js';
import { Sessions } from '../sessions/sessions.js';
import { RecordProvider, useRecording } from '../timeline/use-record.js';
import { around, reading } from './around.js';
import { CodeProvider } from './code.js';
import { line, openClient, type TransportName } from './gateway.js';
import { Header } from './header.js';
import { useKept } from './kept.js';
import { Loading } from './loading.js';
import { type Command, Palette } from './palette.js';
import { hrefOf, useRoute, VIEWS, type View } from './route.js';
import { useMedia } from './use-media.js';
import { ViewBoundary } from './view-boundary.js';

const NAMES: Record<View, readonly [name: string, icon: LucideIcon]> = {
  chat: ['Chat', MessageSquare],
  timeline: ['Timeline', ChartNoAxesGantt],
  network: ['Network', Wires],
  notices: ['Notices', BellRing],
  calls: ['Calls', SquareFunction],
  schedules: ['Schedules', CalendarClock],
  reference: ['API', BookOpenText],
};

// Each view is loaded when it is shown: the conversation needs none of them.
const Calls = lazy(async () => ({ default: (await import('../calls/calls.js')).Calls }));
const Network = lazy(async () => ({ default: (await import('../network/network.js')).Network }));
const Notices = lazy(async () => ({ default: (await import('../notices/notices.js')).Notices }));
const Reference = lazy(async () => ({ default: (await import('../reference/reference.js')).Reference }));
const Schedules = lazy(async () => ({ default: (await import('../schedules/schedules.js')).Schedules }));
const Timeline = lazy(async () => ({ default: (await import('../timeline/timeline.js')).Timeline }));

const openSession = (sessionId: string): void => {
  location.hash = hrefOf({ view: 'chat', sessionId });
};

const VIEW_NAMES = Object.fromEntries(VIEWS.map((view) => [view, NAMES[view][0]])) as Record<View, string>;

const toBox = (): void => {
  document.querySelector<HTMLElement>('.composer textarea')?.focus();
};

interface Standing {
  readonly user: string;
  /** Whether the user may read the sessions of all users. */
  readonly oversees: boolean;
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
  const [people, setPeople] = useState(false);
  const [answer, setAnswer] = useState<string>();
  const showRun = useCallback(
    ({ id }: { readonly id: string }) => {
      setAnswer(id);
      location.hash = hrefOf({ view: 'timeline', sessionId });
    },
    [sessionId],
  );
  const [panel, setPanel] = useKept<'open' | 'closed'>('panel', 'open');
  const [shown, setShown] = useKept<'code' | 'none'>('code', 'none');
  const [language, onLanguage] = useKept<'sdk' | 'curl'>('language', 'sdk');
  // biome-ignore lint/correctness/useExhaustiveDependencies: it only keeps what it is given
  const code = useMemo(() => ({ shown: shown === 'code', language, onLanguage }), [shown, language]);
  // A wide window always shows the conversation, with the chosen view beside it.
  const view = isWide && route.view === 'chat' ? 'timeline' : route.view;
  const hasPane = !isWide || panel === 'open';
  const toggleCode = () => setShown(code.shown ? 'none' : 'code');
  const actions: readonly Command[] = [
    { name: 'New session', run: () => openSession(newSessionId()) },
    { name: 'Write a message', run: toBox },
    { name: code.shown ? 'Hide code' : 'Show code', about: 'The call behind each control', run: toggleCode },
    { name: 'Cut the connection', run: () => line.cut() },
    { name: 'Use another token', run: standing.onSignOut },
  ];
  return (
    <RecordProvider value={record}>
      <AroundProvider value={around}>
        <CodeProvider value={code}>
          <div className={`asg page ${lists ? 'lists' : ''} ${people ? 'with-people' : ''}`}>
            <button type="button" className="skip" onClick={toBox}>
              To the message box
            </button>
            <Palette sessionId={sessionId} views={VIEW_NAMES} actions={actions} />
            <Header
              {...standing}
              sessionId={sessionId}
              lists={lists}
              onLists={() => setLists((before) => !before)}
              panel={isWide ? hasPane : undefined}
              onPanel={() => setPanel(hasPane ? 'closed' : 'open')}
              code={code.shown}
              onCode={toggleCode}
              onPeople={() => setPeople((before) => !before)}
            />
            <aside className="side" aria-label="Sessions">
              <ViewBoundary of="sessions">
                <Sessions route={route} oversees={standing.oversees} onChosen={() => setLists(false)} />
              </ViewBoundary>
            </aside>
            <AroundProvider value={isOverseen(sessionId) ? reading : around}>
              <main className={hasPane ? '' : 'alone'}>
                <h1 className="unseen">Playground: {sessionId}</h1>
                {(isWide || view === 'chat') && (
                  <ViewBoundary of={`chat ${sessionId}`}>
                    <Chat
                      key={sessionId}
                      id={sessionId}
                      user={standing.user}
                      shows={route.messageId}
                      onOpen={openSession}
                      onRun={showRun}
                      bar={(presence) => (
                        <>
                          <UsageLine id={sessionId} />
                          <People id={sessionId} user={standing.user} presence={presence} />
                        </>
                      )}
                    />
                  </ViewBoundary>
                )}
                {hasPane && (
                  <div className={`pane ${view === 'chat' ? 'bare' : ''}`}>
                    <Views view={view} sessionId={sessionId} isWide={isWide} />
                    <ViewBoundary of={`${view} ${sessionId}`}>
                      <Suspense fallback={<Loading />}>
                        {view === 'timeline' && (
                          <Timeline key={sessionId} sessionId={sessionId} wanted={answer} />
                        )}
                        {view === 'network' && <Network transport={transport} onTransport={onTransport} />}
                        {view === 'notices' && <Notices key={sessionId} sessionId={sessionId} />}
                        {view === 'calls' && <Calls key={sessionId} sessionId={sessionId} />}
                        {view === 'schedules' && <Schedules key={sessionId} sessionId={sessionId} />}
                        {view === 'reference' && <Reference />}
                      </Suspense>
                    </ViewBoundary>
                  </div>
                )}
              </main>
            </AroundProvider>
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
