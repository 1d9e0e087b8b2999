/** Bounds of a gateway; every one has a default. Times in milliseconds, `Infinity` for none. */
export interface Limits {
  /** Size of a request body, frame or line, in bytes. @default 1 MiB */
  readonly bodyBytes: number;
  /** Nesting of JSON from outside. @default 64 */
  readonly jsonDepth: number;
  /** Connections of one address to a standalone gateway, whoever they are of. A trusted proxy is not counted. @default 10,000 */
  readonly connectionsPerAddress: number;
  /** Requests in progress and open WebSockets of one address, counted before authentication. @default 10,000 */
  readonly requestsPerAddress: number;
  /** Open event streams and sockets of one user. @default 32 */
  readonly connectionsPerUser: number;
  /** Open answers of one user that are streams of methods, or wait for a run. @default 256 */
  readonly streamsPerUser: number;
  /** Sockets that are open at once without having said who they are. @default 1000 */
  readonly handshakes: number;
  /** Open sessions of one user. @default 1000 */
  readonly sessionsPerUser: number;
  /** Messages and channel events a user may send, sustained; bursts may be twice as many. @default 20 */
  readonly sendsPerSecond: number;
  /** Sessions a user may subscribe to, sustained; bursts may be 3,000. @default 100 */
  readonly subscribesPerSecond: number;
  /** Method calls of one user, sustained; bursts may be twice as many. @default 200 */
  readonly invokesPerSecond: number;
  /** Other operations of one user (history, lists, documents, subscriptions), sustained; likewise. @default 200 */
  readonly readsPerSecond: number;
  /**
   * How often gateways on one store tell each other what of the rates (`…PerSecond`) was used, so that a user has one rate at all of them.
   *
   * @default Infinity: each counts by itself
   */
  readonly shareRatesMs: number;
  /** Size of what is kept of a session, in characters: its events and messages, also of closed logs. @default 256 Mi */
  readonly sessionBytes: number;
  /** The same of all sessions of a scope: of one user, unless `sessionScope` says otherwise. @default 1 Gi */
  readonly userBytes: number;
  /** Size of an uploaded file, in bytes. @default 100 MiB */
  readonly fileBytes: number;
  /** Bytes of all files of a scope that are kept, each counted as 4 KiB at least. @default 1 GiB */
  readonly userFileBytes: number;
  /** Files that one message may name. @default 32 */
  readonly filesPerSend: number;
  /** Files a user may upload, sustained; bursts may be twice as many. @default 10 */
  readonly uploadsPerSecond: number;
  /** Bytes of a file that are read into memory, by `turn.file(id).bytes()` and for models. @default 20 MiB */
  readonly inlineFileBytes: number;
  /** How long a file is kept that no message names, from its last upload on. @default 24 h */
  readonly unnamedFileMs: number;
  /**
   * Bounds of an identity that many callers share instead of a user's: of `anonymous`, of a token without `user`, of a user that
   * authentication marked `service: true`; `sessions`, `bytes` and `fileBytes` also where `sessionScope` gives many users one scope.
   *
   * @default 10,000 connections, 100,000 sessions, 1,000 sends, 10,000 invokes, 10,000 reads and 1,000 uploads a second, 64 Gi, 64 GiB of
   * files; a user's limit where that is higher
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
  /** Time within which a caller with something open is asked about again. @default 60 s */
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
  /** What is kept of a session's events, whichever is reached first; messages are kept. @default 10,000 events, 16 MiB, 7 days */
  readonly retention: { readonly events: number; readonly bytes: number; readonly ageMs: number };
  /** Length of what people say of a control that moves, or of a reaction, in characters. @default 2,000 */
  readonly noteLength: number;
  /** People who may react to one message. @default 200 */
  readonly reactionsPerMessage: number;
  /** Those who may be present in one session. @default 100 */
  readonly presenceMembers: number;
  /** What a page says of somebody who is present, in bytes of JSON. @default 1 KiB */
  readonly presenceBytes: number;
  /** Schedules of one session. @default 32 */
  readonly schedulesPerSession: number;
  /** The shortest time from one instant of a schedule to the next. @default 60 s */
  readonly scheduleMinMs: number;
  /** How late an instant of a schedule may be that is not missed. @default 60 s */
  readonly scheduleGraceMs: number;
  /** Browsers of one user that pushes go to. @default 16 */
  readonly pushSubscriptions: number;
  /** Length of a schedule's message, in characters. @default 16 Ki */
  readonly scheduleLength: number;
  /** Grants of one session. @default 64 */
  readonly grantsPerSession: number;
  /** Messages of one page of history, or of a snapshot, in bytes of JSON; one message may be longer. @default 4 MiB */
  readonly pageBytes: number;
  /** Answers of one user that were written and not read, in bytes, above which no more requests are taken. @default 16 MiB */
  readonly unreadBytes: number;
  /** Time for a request's head, and for a socket's first frame, which has 5 s at most. @default 10 s */
  readonly handshakeMs: number;
  /** How long a connection without a request is kept open: longer than proxies keep theirs, which is 60 s for most. @default 65 s */
  readonly keepAliveMs: number;
  /** Interval of heartbeats on event streams and streams of methods. @default 15 s */
  readonly heartbeatMs: number;
  /** How long a reader may take no byte of what was written before it is closed. @default 30 s */
  readonly slowClientMs: number;
  /** Age at which an event stream is ended, give or take a fifth, to be resumed elsewhere. @default 9 min */
  readonly streamMs: number;
  /** Time of a method's handler. @default 30 s */
  readonly methodMs: number;
  /** Time of what the host decides by (guards, `sessionAccess`, `appAccess`, `clientMessages`, MCP's `toolFilter`); silence denies. @default 5 s */
  readonly guardMs: number;
  /** Time of a run, without the time it waits for a person. @default 10 min */
  readonly runMs: number;
  /** Time a run waits for a person. @default Infinity */
  readonly waitMs: number;
  /** Length of an answer, in characters; a longer one ends its run with an error. @default 32 Mi */
  readonly answerSize: number;
  /** Names and results of all `turn.step` of one run together, in characters of JSON, and 100 for each. @default 16 Mi */
  readonly stepsSize: number;
  /** A run of a resumable app that only waits, and that nobody follows, leaves memory after so long. @default 60 s */
  readonly parkMs: number;
  /** How long `onDisconnect: 'abort'` waits for a viewer to come back. @default 10 s */
  readonly disconnectGraceMs: number;
  /** Time that `close()` gives runs and method calls to finish. @default 25 s */
  readonly drainMs: number;
  /** How long an answer of the store is waited for, and how long callers wait for it. @default 10 s */
  readonly storeMs: number;
  /** How late the event loop may be, twice in a row, before new work is refused. @default 250 ms */
  readonly loopDelayMs: number;
  /** How long pieces of answers may wait for those that follow, to be sent as one, while the event loop is busy; 0 for never. @default 50 ms */
  readonly gatherMs: number;
}

/** Every limit where a host sets none. */
export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 1024 * 1024,
  jsonDepth: 64,
  connectionsPerAddress: 10_000,
  requestsPerAddress: 10_000,
  connectionsPerUser: 32,
  streamsPerUser: 256,
  handshakes: 1000,
  sessionsPerUser: 1000,
  sendsPerSecond: 20,
  subscribesPerSecond: 100,
  invokesPerSecond: 200,
  readsPerSecond: 200,
  shareRatesMs: Number.POSITIVE_INFINITY,
  sessionBytes: 256 * 1024 * 1024,
  userBytes: 1024 * 1024 * 1024,
  fileBytes: 100 * 1024 * 1024,
  userFileBytes: 1024 * 1024 * 1024,
  filesPerSend: 32,
  uploadsPerSecond: 10,
  inlineFileBytes: 20 * 1024 * 1024,
  unnamedFileMs: 24 * 3_600_000,
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
  revalidateMs: 60_000,
  queueLength: 32,
  importedMessages: 10_000,
  clientToolsPerSend: 128,
  titleLength: 256,
  metadataBytes: 16 * 1024,
  noteLength: 2000,
  reactionsPerMessage: 200,
  presenceMembers: 100,
  presenceBytes: 1024,
  schedulesPerSession: 32,
  scheduleMinMs: 60_000,
  scheduleGraceMs: 60_000,
  scheduleLength: 16 * 1024,
  pushSubscriptions: 16,
  grantsPerSession: 64,
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
  parkMs: 60_000,
  disconnectGraceMs: 10_000,
  drainMs: 25_000,
  storeMs: 10_000,
  loopDelayMs: 250,
  gatherMs: 50,
};
