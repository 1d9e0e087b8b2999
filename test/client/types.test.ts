import { expect } from 'chai';
import { createClient, type Method } from '../../client/index.js';
import { ScriptedTransport } from './scripted.js';

interface Source {
  readonly '~contract': {
    readonly methods: {
      readonly ping: () => Promise<{ pong: boolean }>;
      readonly tasks: {
        readonly create: Method<{ title: string }, Promise<{ id: number; at: Date }>>;
        readonly watch: Method<{ listId: string }, AsyncIterable<number>>;
      };
    };
    readonly channels: { readonly tasks: Task };
    readonly events: { readonly 'task:created': Task };
  };
}
interface Task {
  readonly id: number;
  readonly title?: string;
}

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const check = <_T extends true>() => {};

describe('client types', () => {
  it('carry methods, channels and events of the gateway', () => {
    const client = createClient<Source>({ transport: new ScriptedTransport() });
    const use = async () => {
      const created = await client.invoke('tasks:create', { title: 'x' });
      check<Equal<typeof created, { id: number; at: string }>>();
      for await (const item of client.stream('tasks:watch', { listId: 'x' }))
        check<Equal<typeof item, number>>();
      // @ts-expect-error: no such path
      await client.invoke('tasks:none');
      // @ts-expect-error: a title is required
      await client.invoke('tasks:create', {});
      // @ts-expect-error: a streaming method
      await client.invoke('tasks:watch', { listId: 'x' });

      const channel = client.channel('tasks');
      await channel.publish({ id: 1 });
      // @ts-expect-error: an id is a number
      await channel.publish({ id: '1' });
      // @ts-expect-error: not declared
      client.channel('other');
      for await (const message of channel) {
        if (message.gap) check<Equal<typeof message.gap.type, 'gap'>>();
        else check<Equal<typeof message.payload, { readonly id: number; readonly title?: string }>>();
      }
      for await (const event of client.events('main', { types: ['custom', 'content_delta'] })) {
        check<Equal<typeof event.type, 'custom' | 'content_delta'>>();
        if (event.type === 'custom')
          check<Equal<typeof event.payload, { readonly id: number; readonly title?: string }>>();
      }
    };
    expect(use).to.be.a('function');
  });

  it('leave a client without a type open', () => {
    const client = createClient({ transport: new ScriptedTransport() });
    const use = async () => {
      check<Equal<Awaited<ReturnType<typeof client.invoke>>, unknown>>();
      await client.invoke('any:path', { any: 'thing' }, { sessionId: 'main' });
      await client.channel('any').publish(1);
    };
    expect(use).to.be.a('function');
  });
});
