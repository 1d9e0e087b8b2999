import { Parser } from '@asyncapi/parser';
import { expect } from 'chai';
import { usedSchemas } from '../../server/documents/schemas.js';
import { EVENTS_PATH, WEBSOCKET_PATH } from '../../shared/calls.js';
import type { ClientFrame } from '../../shared/frames.js';
import { OPERATIONS } from '../../shared/operations.js';
import { eventDataSchemas } from '../../shared/schemas/events.js';
import { clientFrameSchemas, serverFrameSchemas } from '../../shared/schemas/frames.js';
import { echo } from '../support/apps.js';
import { isWholeDay } from '../support/daily.js';
import { get, startGateway } from '../support/gateway.js';
import { socketDirectory } from '../support/socket-directory.js';
import { describedMethods } from './fixture.js';
import { lookUp, references } from './validator.js';

const EVENTS = Object.keys(eventDataSchemas);

async function documentOf(config: Partial<Parameters<typeof startGateway>[0]> = {}): Promise<any> {
  const { url } = await startGateway({ app: echo, ...config });
  return (await get(`${url}/asyncapi.json`)).body;
}

/** A gateway with every door. */
const full = () => ({ methods: describedMethods, socketPath: `${socketDirectory()}/g.sock` });

async function lint(document: unknown): Promise<string[]> {
  const remarks: string[] = [];
  for (const share of sharesOf(document)) {
    const { diagnostics } = await new Parser().parse(JSON.stringify(share));
    for (const { severity, code, message, path } of diagnostics)
      remarks.push(`${severity} ${code}: ${message} at ${path.join('/')}`);
  }
  return remarks;
}

/** How many operations are linted at once: an operation holds its channel, and so all messages of that, once more. */
const SHARE = 8;

/** The document in shares of its operations, each with what they lead to; whole, which takes minutes, once a week. */
function sharesOf(document: any): unknown[] {
  if (isWholeDay) return [document];
  const names = Object.keys(document.operations);
  return names
    .filter((_, index) => index % SHARE === 0)
    .map((_, share) => only(document, names.slice(share * SHARE, (share + 1) * SHARE)));
}

/** The document with some of its operations, and the channels, messages and schemas that these lead to. */
function only(document: any, names: readonly string[]): any {
  const operations = pick(document.operations, (name) => names.includes(name));
  const asked = new Set(references(operations).map(({ ref }) => ref));
  const channels = Object.fromEntries(
    Object.entries<any>(pick(document.channels, (name) => asked.has(`#/channels/${name}`))).map(
      ([name, channel]) => [
        name,
        {
          ...channel,
          messages: pick(channel.messages, (key) => asked.has(`#/channels/${name}/messages/${key}`)),
        },
      ],
    ),
  );
  const named = new Set(references(channels).map(({ ref }) => ref));
  const messages = pick(document.components.messages, (name) => named.has(`#/components/messages/${name}`));
  const schemas = usedSchemas(messages, document.components.schemas);
  return { ...document, operations, channels, components: { ...document.components, messages, schemas } };
}

const pick = (of: object, isKept: (key: string) => boolean): Record<string, unknown> =>
  Object.fromEntries(Object.entries(of).filter(([key]) => isKept(key)));

const contents = (messages: any): any[] => Object.values(messages);
const constOf = (document: any, { $ref }: any, field: string): unknown =>
  lookUp(document, $ref).payload.properties?.[field]?.const;

describe('GET /asyncapi.json', () => {
  it('passes its linter without a remark, and asks for nothing outside of it', async function () {
    // The linter takes half a minute of a processor's time.
    this.timeout(600_000);
    const document = await documentOf(full());
    expect(references(document).filter(({ ref, found }) => !found || !ref.startsWith('#/'))).to.deep.equal(
      [],
    );
    expect(await lint(document)).to.deep.equal([]);
    const plain = await documentOf({ auth: { type: 'none' } });
    expect(await lint(plain)).to.deep.equal([]);
    plain.operations['events.follow'].messages.push({ $ref: '#/components/messages/connect' });
    expect(await lint(only(plain, ['events.follow']))).to.not.deep.equal([]);
  });

  it('has a channel for each door that the gateway has', async () => {
    const { channels } = await documentOf(full());
    const addresses = Object.entries<any>(channels).map(([name, { address }]) => [name, address]);
    expect(Object.fromEntries(addresses)).to.deep.equal({
      events: EVENTS_PATH,
      send: OPERATIONS.send.path,
      regenerate: OPERATIONS.regenerate.path,
      invoke: OPERATIONS.invoke.path,
      webSocket: WEBSOCKET_PATH,
      unixSocket: null,
    });
    const plain = await documentOf();
    expect(Object.keys(plain.channels)).to.deep.equal(['events', 'send', 'regenerate', 'webSocket']);
    expect(Object.keys(plain.servers)).to.deep.equal(['http', 'webSocket']);
  });

  it('has every event of the union on each of its channels', async () => {
    const document = await documentOf(full());
    expect(contents(document.operations['events.follow'].messages).map(({ $ref }) => $ref)).to.have.members(
      EVENTS.map((type) => `#/channels/events/messages/sse.${type}`),
    );
    for (const channel of ['webSocket', 'unixSocket']) {
      const events = contents(document.channels[channel].messages).filter(
        (at) => constOf(document, at, 'event') !== undefined,
      );
      expect(events.map((at) => constOf(document, at, 'event'))).to.have.members(EVENTS);
    }
  });

  it('has every operation of the table and every method as a request with its answer', async () => {
    const document = await documentOf(full());
    const { operations } = document;
    const visible = Object.keys(describedPaths(document));
    for (const channel of ['webSocket', 'unixSocket']) {
      const requests = Object.values<any>(operations).filter(
        ({ action, messages }) =>
          action === 'receive' && messages[0].$ref.startsWith(`#/channels/${channel}/messages/req.`),
      );
      const methods = requests.map(({ messages }) =>
        constOf(document, lookUp(document, messages[0].$ref), 'method'),
      );
      expect(methods).to.have.members([...Object.keys(OPERATIONS), ...visible]);
      for (const { reply } of requests) expect(reply.messages.length).to.be.at.least(2);
    }
    expect(visible).to.include.members(['ping', 'tasks:create', 'a@b', 'a+b']);
    expect(visible).to.not.include('tasks:admin:archive');
  });

  it('has every kind of frame, in its direction', async () => {
    const document = await documentOf(full());
    const kinds = (action: 'receive' | 'send'): Set<unknown> => {
      const own = Object.entries<any>(document.operations).filter(([name]) => name.startsWith('webSocket.'));
      const messages = own.flatMap(([, operation]) => {
        const asked = operation.action === action ? operation.messages : [];
        return action === 'send' ? [...asked, ...(operation.reply?.messages ?? [])] : asked;
      });
      return new Set(
        messages.map(({ $ref }: any) => constOf(document, lookUp(document, $ref), 'type') ?? 'event'),
      );
    };
    expect([...kinds('receive')]).to.have.members(
      Object.keys(clientFrameSchemas) satisfies string[] as ClientFrame['type'][],
    );
    // The gateway answers pings and sends none.
    expect([...kinds('send')]).to.have.members(
      Object.keys(serverFrameSchemas).filter((type) => type !== 'ping'),
    );
  });
});

/** The methods that the document lists, by path. */
function describedPaths(document: any): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries<any>(document.components.messages)
      .filter(([name]) => name.startsWith('req.method.'))
      .map(([, { payload }]) => [payload.properties.method.const, payload]),
  );
}
