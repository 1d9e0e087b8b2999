import { expect } from 'chai';
import {
  eventSchema as dataSchema,
  operationSchema,
  protocolSchemas,
  refTo,
} from '../../server/documents/schemas.js';
import type { JsonSchema } from '../../server/schema/schema.js';
import type { EventType } from '../../shared/events.js';
import { clientFrameSchema, eventDataSchemas, eventSchema, serverFrameSchema } from '../../shared/index.js';
import { beginsRun, isOperation } from '../../shared/operations.js';
import { closeAll } from '../support/resources.js';
import { type Recorded, record } from './scenario.js';
import { type DocumentValidator, lookUp, strictValidator } from './validator.js';

const EVENTS = Object.keys(eventDataSchemas) as EventType[];
/** The bodies that call a method. */
const CALLS = '/paths/~1invoke/post/requestBody/content/application~1json/schema';
const step = (text: string): string => text.replaceAll('~', '~0').replaceAll('/', '~1');

/** Events that this scenario has none of: the tests of deploys, compaction, guards, variants and budgets see them. */
const SEEN_ELSEWHERE: ReadonlySet<string> = new Set([
  ...['run_held', 'run_taken_up'],
  ...['compacted', 'variant'],
  ...['budget_warned', 'budget_reached'],
]);

describe('what a gateway really says, judged by its documents', () => {
  let recorded: Recorded;
  let open: DocumentValidator;
  let protocol: DocumentValidator;

  before(async () => {
    recorded = await record();
    open = strictValidator(recorded.openapi);
    protocol = strictValidator({ components: { schemas: protocolSchemas() } });
  });
  after(closeAll);

  it('every answer over HTTP is one of those described for its route and status', () => {
    const statuses = new Set<string>();
    for (const { route, method, status, mediaType, body } of recorded.traffic.http) {
      const at = `/paths/${step(route)}/${method}/responses/${status}`;
      const response = lookUp(recorded.openapi, `#${at}`);
      const what = `${method} ${route} ${status} ${JSON.stringify(body)?.slice(0, 300)}`;
      expect(response, what).to.be.an('object');
      statuses.add(`${route} ${status}`);
      if (status === 204) expect(response.content, what).to.equal(undefined);
      else expect(open.faults(`${at}/content/${step(mediaType)}/schema`, body), what).to.deep.equal([]);
      if (status >= 400) expect(response['x-codes'], what).to.include(body.error.code);
    }
    expect([...statuses]).to.include.members([
      '/send 200',
      '/send 202',
      '/send 400',
      '/send 404',
      '/send 409',
      '/send 413',
      '/send 415',
      '/send 422',
      '/regenerate 200',
      '/regenerate 202',
      '/regenerate 404',
      '/regenerate 409',
      '/move 200',
      '/fork 200',
      '/fork 409',
      '/invoke 200',
      '/invoke 204',
      '/invoke 400',
      '/invoke 403',
      '/invoke 404',
      '/invoke 504',
      '/apps 401',
      '/apps 403',
      '/history 410',
      '/history 404',
      '/update 200',
      '/update 400',
      '/update 413',
      '/sessions 200',
      '/sessions 400',
      '/move 200',
      '/move 404',
      '/fork 200',
      '/tool-response 409',
      '/tool-response 404',
      '/subscribe 404',
    ]);
  });

  it('every body that was taken is one of those described', () => {
    for (const { route, method, request, status } of recorded.traffic.http) {
      if (method !== 'post' || status >= 400) continue;
      const at = `/paths/${step(route)}/post/requestBody/content/application~1json/schema`;
      expect(open.faults(at, request), `${route} ${JSON.stringify(request)}`).to.deep.equal([]);
    }
  });

  it('every call of a streaming method that was taken is one of those described', () => {
    expect(recorded.traffic.streamed.map(({ lastEventId }) => lastEventId)).to.include.members([
      undefined,
      '2',
    ]);
    for (const request of recorded.traffic.streamed)
      expect(open.faults(CALLS, request), JSON.stringify(request)).to.deep.equal([]);
  });

  it('no body that was refused for its params is one of those described', () => {
    const refused = recorded.traffic.http.filter(
      ({ method, body }) => method === 'post' && body?.error?.code === 'INVALID_PARAMS',
    );
    expect(refused).to.have.length.above(1);
    for (const { route, request } of refused) {
      const at = `/paths/${step(route)}/post/requestBody/content/application~1json/schema`;
      expect(open.faults(at, request), JSON.stringify(request)).to.not.deep.equal([]);
    }
  });

  it('every message of an event stream is described, and every type was seen', () => {
    const seen = new Set<string>();
    for (const { route, event, id, wire: data } of recorded.traffic.messages) {
      seen.add(event);
      const what = `${route} ${event} ${JSON.stringify(data)}`;
      const method = route === '/events' ? 'get' : 'post';
      const schema = `/paths/${step(route)}/${method}/responses/200/content/text~1event-stream/schema`;
      expect(open.faults(schema, { event, ...(id !== undefined && { id }), data }), what).to.deep.equal([]);
    }
    expect([...seen]).to.have.members([
      ...EVENTS.filter((type) => !SEEN_ELSEWHERE.has(type)),
      'ping',
      'chunk',
      'mark',
      'end',
      'fail',
    ]);
  });

  it('every frame that the gateway wrote is described, and every kind was seen', () => {
    const seen = new Set<string>();
    const requests = recorded.traffic.sent.filter(({ type }) => type === 'req');
    const methodOf = new Map(requests.map(({ id, method }) => [id, method]));
    for (const frame of recorded.traffic.frames) {
      seen.add(frame.type ?? `event.${frame.event}`);
      expect(faultsOf(frame, methodOf.get(frame.id)), JSON.stringify(frame).slice(0, 400)).to.deep.equal([]);
      expect(serverFrameSchema.safeParse(frame).error, JSON.stringify(frame)).to.equal(undefined);
    }
    const chunks = recorded.traffic.frames.filter(({ type }) => type === 'chunk');
    expect(
      chunks.filter(({ eventId, data }) => eventId && data),
      'items with a place',
    ).not.to.have.length(0);
    expect(
      chunks.filter((chunk) => !('data' in chunk)),
      'places alone',
    ).not.to.have.length(0);
    // Sockets are closed with a code when a token has run out.
    const events = EVENTS.filter((type) => type !== 'auth_expired').map((type) => `event.${type}`);
    expect([...seen]).to.include.members([
      ...events.filter((name) => !SEEN_ELSEWHERE.has(name.replace(/^event\./, ''))),
      'res',
      'chunk',
      'pong',
      'authenticated',
      'error',
    ]);
  });

  it('every frame that the gateway took is one of the protocol, with the params of its operation or method', () => {
    const taken = recorded.traffic.sent.filter(({ type }) => type !== 'nonsense');
    for (const frame of taken) {
      expect(clientFrameSchema.safeParse(frame).success, JSON.stringify(frame)).to.equal(true);
      if (frame.type !== 'req' || frame.params === undefined) continue;
      const { method, params } = frame;
      const faults = isOperation(method)
        ? protocol.faults(named(operationSchema(method, 'params')), params)
        : open.faults(CALLS, { method, params });
      // A frame says the connection by coming through it.
      const others = faults.filter((fault) => !fault.includes("'connectionId'"));
      expect(others, JSON.stringify(frame)).to.deep.equal([]);
    }
    expect(clientFrameSchema.safeParse({ type: 'nonsense' }).success).to.equal(false);
  });

  it('every event is one by the schema of the protocol, which refuses what is none', () => {
    for (const { event, data } of recorded.traffic.messages) {
      if (['ping', 'chunk', 'mark', 'end', 'fail'].includes(event)) continue;
      const whole = { type: event, ...data };
      expect(eventSchema.parse(whole)).to.deep.equal(whole);
      const field = Object.keys(data).find((name) => !['sessionId', 'cursor', 'ts', 'runId'].includes(name));
      if (field !== undefined)
        expect(eventSchema.safeParse({ ...whole, [field]: Symbol() }).success, `${event} ${field}`).to.equal(
          false,
        );
    }
  });

  /** What is wrong with the content of a frame: the data of an event, the result of an operation or a method, or an item. */
  function faultsOf({ type, event, ok, data, payload }: any, method: string): readonly string[] {
    if (event) return protocol.faults(named(dataSchema(event)), data);
    const content = type === 'chunk' ? data : payload;
    if ((type !== 'res' && type !== 'chunk') || ok === false || content === undefined) return [];
    if (isOperation(method) && method !== 'invoke') {
      const result = beginsRun(method) ? refTo('Accepted') : operationSchema(method, 'result');
      return protocol.faults(named(result), content);
    }
    const { result, stream } = recorded.openapi.paths['/invoke'].post['x-methods'][method] ?? {};
    // The end of a stream has no result.
    return result?.$ref && stream === (type === 'chunk') ? open.faults(named(result), content) : [];
  }
});

const named = ({ $ref }: JsonSchema): string => String($ref).slice(1);
