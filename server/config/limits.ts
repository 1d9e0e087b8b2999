import { column, FEATURE_LIMITS, type FeatureLimits } from '../../shared/features.js';

/** Limits of a gateway, all with defaults. Times are in milliseconds; `Infinity` means no limit, where a limit may have it (`limit-kinds.ts`). */
export interface Limits extends FeatureLimits {
  /** Size of a request body, frame or line, in bytes. @default 1 MiB */
  readonly bodyBytes: number;
  /** The same for bodies that carry a whole conversation: those of other protocols' doors, and of `import`. @default 8 MiB, or `bodyBytes` if that is more */
  readonly conversationBytes: number;
  /** Nesting of JSON from outside. @default 64 */
  readonly jsonDepth: number;
  /** Connections of one address to a standalone gateway, of all users together. A trusted proxy is not counted. @default 10,000 */
  readonly connectionsPerAddress: number;
  /** Connections that wait to be accepted; the system may allow fewer. @default 511 */
  readonly backlog: number;
  /** Requests in progress and open WebSockets of one address, counted before authentication. @default 10,000 */
  readonly requestsPerAddress: number;
  /** Open event streams and sockets of one user. @default 32 */
  readonly connectionsPerUser: number;
  /** Open answers of one user that stream a method, or wait for a run. @default 256 */
  readonly streamsPerUser: number;
  /** Open sockets whose client has not authenticated yet. @default 1000 */
  readonly handshakes: number;
  /** Open sessions of one user. @default 1000 */
  readonly sessionsPerUser: number;
  /** Messages and channel events a user may send, sustained; bursts may be twice as many. @default 20 */
  readonly sendsPerSecond: number;
  /** Sessions that a user may subscribe to, sustained; bursts may be 3,000. @default 100 */
  readonly subscribesPerSecond: number;
  /** Method calls of one user, sustained; bursts may be twice as many. @default 200 */
  readonly invokesPerSecond: number;
  /** Other operations of one user (history, lists, documents, subscriptions), sustained; bursts may be twice as many. @default 200 */
  readonly readsPerSecond: number;
  /** Reads of one user that are under way at once. Further ones wait for their turn. @default 8 */
  readonly readsAtOnce: number;
  /**
   * Interval at which gateways on one store exchange the used parts of rates (`…PerSecond`), so that a user has one rate at all of them.
   *
   * @default Infinity: each counts by itself
   */
  readonly shareRatesMs: number;
  /** Characters kept of a session: its events and messages, including closed logs. @default 256 Mi */
  readonly sessionBytes: number;
  /** Characters kept of all sessions of a scope: of one user, unless `sessionScope` says otherwise. @default 1 Gi */
  readonly userBytes: number;
  /**
   * Limits of an identity that many callers share, instead of a user's: `anonymous`, a token without `user`, and a user that authentication
   * marked `service: true`. `sessions`, `bytes` and `fileBytes` also apply if `sessionScope` gives many users one scope.
   *
   * @default 10,000 connections, 100,000 sessions, 1,000 sends, 10,000 invokes, 10,000 reads and 1,000 uploads a second, 64 Gi, 64 GiB of
   * files; a user's limit if that is higher
   */
  readonly shared: {
    readonly connections: number;
    readonly sessions: number;
    readonly sendsPerSecond: number;
    readonly invokesPerSecond: number;
    readonly readsPerSecond: number;
    readonly uploadsPerSecond: number;
    readonly bytes: number;
    readonly fileBytes: number;
  };
  /**
   * Limits of one tenant: of all users with one `tenantId`, or with one text of `fairKey`. A user without either is a tenant alone.
   *
   * @default Infinity; 1,000 runs that wait
   */
  readonly tenant: {
    readonly sendsPerSecond: number;
    readonly invokesPerSecond: number;
    readonly readsPerSecond: number;
    /** Open event streams and sockets of its clients. */
    readonly connections: number;
    /** Runs whose apps are at work at once at this gateway. More wait for their turn. */
    readonly runsAtOnce: number;
    /** Accepted runs that wait for their turn, each the first of its session. */
    readonly runsWaiting: number;
  };
  /**
   * Runs whose apps are at work at once at this gateway. More wait for their turn, which the tenant with the fewest has next. Child runs do not
   * count, nor do runs that wait for a person or sleep.
   *
   * @default Infinity
   */
  readonly runsAtOnce: number;
  /** Time for which the store keeps acts for audits; 0 keeps none. They are logged anyway. @default 0 */
  readonly auditMs: number;
  /** Acts for audits that the store keeps at most: beyond it the oldest go. @default 10,000 */
  readonly auditEntries: number;
  /** Time within which the caller of an open stream is authenticated again. @default 60 s */
  readonly revalidateMs: number;
  /** Messages that wait behind the active run of a session. @default 32 */
  readonly queueLength: number;
  /** Messages that one `import` may bring. @default 10,000 */
  readonly importedMessages: number;
  /** Tools that one message may bring along. @default 128 */
  readonly clientToolsPerSend: number;
  /** Length of a session's title, in characters. @default 256 */
  readonly titleLength: number;
  /** A session's metadata, in bytes of JSON. @default 16 KiB */
  readonly metadataBytes: number;
  /** Retained events of a session; the first limit reached applies. Messages are kept. @default 10,000 events, 16 MiB, 7 days */
  readonly retention: { readonly events: number; readonly bytes: number; readonly ageMs: number };
  /** Length of a person's note, as on a change of control, in characters. @default 2,000 */
  readonly noteLength: number;
  /** Grants of one session. @default 64 */
  readonly grantsPerSession: number;
  /** Sessions of one owner that are shared with one user. @default 100 */
  readonly sharedPerUser: number;
  /** Size of the messages of one page of history, or of a snapshot, in bytes of JSON. A single message may be larger. @default 4 MiB */
  readonly pageBytes: number;
  /** Bytes of one user's unread answers above which no more requests are accepted. @default 16 MiB */
  readonly unreadBytes: number;
  /** Time for a request's head, and for a socket's first frame, which has at most 5 s. @default 10 s */
  readonly handshakeMs: number;
  /** Time that an idle connection is kept open. It should exceed that of proxies, which is mostly 60 s. @default 65 s */
  readonly keepAliveMs: number;
  /** Interval of heartbeats on event streams and streams of methods. @default 15 s */
  readonly heartbeatMs: number;
  /** Time after which a reader that takes no byte of pending data is disconnected. @default 30 s */
  readonly slowClientMs: number;
  /** Age at which an event stream ends, plus or minus a fifth, to be resumed elsewhere. @default 9 min */
  readonly streamMs: number;
  /** Time limit of a method's handler. @default 30 s */
  readonly methodMs: number;
  /**
   * Time limit of the host's decisions (guards, `sessionAccess`, `appAccess`, `oversight`, `clientMessages`, MCP's `toolFilter`). No answer means no.
   *
   * @default 5 s
   */
  readonly guardMs: number;
  /** Time limit of a run, without the time it waits for a person. @default 10 min */
  readonly runMs: number;
  /** Time limit of a run's wait for a person. @default Infinity */
  readonly waitMs: number;
  /** Length of an answer, in characters. A longer one ends its run with an error. @default 32 Mi */
  readonly answerSize: number;
  /** Names and results of all `turn.step` of one run together, in characters of JSON, and 100 for each. @default 16 Mi */
  readonly stepsSize: number;
  /** Runs beside the conversation of one session at a time: child runs, and runs that people begin in lanes of their own. @default 16 */
  readonly childRuns: number;
  /** How deep child runs may nest; 1: no child has children. @default 4 */
  readonly childDepth: number;
  /** Time after which a run of a resumable app leaves memory, if it only waits and nobody follows it. @default 60 s */
  readonly parkMs: number;
  /** Time that `onDisconnect: 'abort'` waits for a viewer to come back. @default 10 s */
  readonly disconnectGraceMs: number;
  /** Time for which `close()` still serves everybody while `/readyz` says `lame-duck`, before it drains. @default 0 */
  readonly lameDuckMs: number;
  /** Time that `close()` gives runs and method calls to finish. @default 25 s */
  readonly drainMs: number;
  /** Time limit of one store call, and of callers' waits for the store. @default 10 s */
  readonly storeMs: number;
  /** Lateness of the event loop, twice in a row, at which new work is refused. @default 250 ms */
  readonly loopDelayMs: number;
  /** Used part of the heap of V8, from 0 to 1, at which new work is refused. `node --max-old-space-size` says how large it may be. @default 0.75 */
  readonly heapShare: number;
  /** Time that pieces of answers may wait to be sent as one while the process has more to do than it can; 0 for none. @default 30 ms */
  readonly gatherMs: number;
}

/** The defaults of all limits. */
export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 1024 * 1024,
  conversationBytes: 8 * 1024 * 1024,
  jsonDepth: 64,
  connectionsPerAddress: 10_000,
  backlog: 511,
  requestsPerAddress: 10_000,
  connectionsPerUser: 32,
  streamsPerUser: 256,
  handshakes: 1000,
  sessionsPerUser: 1000,
  sendsPerSecond: 20,
  subscribesPerSecond: 100,
  invokesPerSecond: 200,
  readsPerSecond: 200,
  readsAtOnce: 8,
  shareRatesMs: Number.POSITIVE_INFINITY,
  sessionBytes: 256 * 1024 * 1024,
  userBytes: 1024 * 1024 * 1024,
  shared: {
    connections: 10_000,
    sessions: 100_000,
    sendsPerSecond: 1000,
    invokesPerSecond: 10_000,
    readsPerSecond: 10_000,
    uploadsPerSecond: 1000,
    bytes: 64 * 1024 * 1024 * 1024,
    fileBytes: 64 * 1024 * 1024 * 1024,
  },
  tenant: {
    sendsPerSecond: Number.POSITIVE_INFINITY,
    invokesPerSecond: Number.POSITIVE_INFINITY,
    readsPerSecond: Number.POSITIVE_INFINITY,
    connections: Number.POSITIVE_INFINITY,
    runsAtOnce: Number.POSITIVE_INFINITY,
    runsWaiting: 1000,
  },
  runsAtOnce: Number.POSITIVE_INFINITY,
  auditMs: 0,
  auditEntries: 10_000,
  revalidateMs: 60_000,
  queueLength: 32,
  importedMessages: 10_000,
  clientToolsPerSend: 128,
  titleLength: 256,
  metadataBytes: 16 * 1024,
  noteLength: 2000,
  ...column(FEATURE_LIMITS, (words) => words.default),
  grantsPerSession: 64,
  sharedPerUser: 100,
  retention: { events: 10_000, bytes: 16 * 1024 * 1024, ageMs: 7 * 24 * 3_600_000 },
  pageBytes: 4 * 1024 * 1024,
  unreadBytes: 16 * 1024 * 1024,
  handshakeMs: 10_000,
  keepAliveMs: 65_000,
  heartbeatMs: 15_000,
  slowClientMs: 30_000,
  streamMs: 9 * 60_000,
  methodMs: 30_000,
  guardMs: 5_000,
  runMs: 10 * 60_000,
  waitMs: Number.POSITIVE_INFINITY,
  answerSize: 32 * 1024 * 1024,
  stepsSize: 16 * 1024 * 1024,
  childRuns: 16,
  childDepth: 4,
  parkMs: 60_000,
  disconnectGraceMs: 10_000,
  lameDuckMs: 0,
  drainMs: 25_000,
  storeMs: 10_000,
  loopDelayMs: 250,
  // V8 gives a process up whose heap is four times in a row over 0.8 full after a collection that took most of the time.
  heapShare: 0.75,
  gatherMs: 30,
};
