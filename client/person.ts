import type { UserName } from '../shared/user-name.js';
import { createListeners } from './listeners.js';
import type { ClientTransport } from './transport/transport.js';

/** The person whom a client shows things to and sends as. */
export interface ClientPerson {
  /** The user, as the gateway has named it, or as the page has promised. */
  user: UserName | undefined;
  /** Another object for another person, who is shown nothing of another life. */
  life: object;
  /** Another object since it is in doubt who is there. A state that nobody looked at since is not shown before the gateway has sent it again. */
  era: object;
  /** Notices other credentials. Call it before something is shown or sent. */
  look(): void;
  /** The gateway names the user of a connection. Returns whether that is another one, so that the connection is of no use. */
  met(user: UserName): boolean;
  /** Calls the listener when another person is there. Returns a function that removes it. */
  subscribe(listener: () => void): () => void;
}

/** The callbacks of a person to its client. */
export interface PersonHost {
  /** Forgets what waits to be sent. */
  drop(): void;
  /** Another person is there: connects anew. */
  restart(): void;
  /** Other credentials are there: connects with them. */
  renew(): void;
  /** Whether there is a connection, which goes on until the gateway says who is there. */
  isConnected(): boolean;
}

export function createPerson(transport: ClientTransport, host: PersonHost): ClientPerson {
  const { subscribe, emit } = createListeners();
  const become = (user?: UserName) => {
    person.user = user;
    person.life = person.era = {};
    host.drop();
  };
  const forget = () => {
    host.restart();
    emit();
  };
  const person: ClientPerson = {
    user: undefined,
    life: {},
    era: {},
    look: () => {
      const change = transport.look?.();
      if (!change) return;
      if (change !== 'same') person.era = {};
      const isOther = change === 'other' || (change === 'unknown' && !host.isConnected());
      if (isOther) become();
      // Not at once, since a component may be rendering.
      queueMicrotask(isOther ? forget : host.renew);
    },
    met: (user) => {
      if (!user) return false;
      const { id, tenantId = user.tenantId } = person.user ?? user;
      const isOther = user.id !== id || user.tenantId !== tenantId;
      if (isOther) {
        become(user);
        forget();
      }
      person.user = user;
      return isOther;
    },
    subscribe,
  };
  return person;
}
