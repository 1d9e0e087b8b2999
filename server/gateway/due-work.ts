import { createAbsent } from '../auth/absent.js';
import type { Authenticator } from '../auth/authenticate.js';
import { NOTE } from '../cluster/notes.js';
import type { ParsedConfig } from '../config/parse.js';
import type { DueWorker } from '../due/due-worker.js';
import { forgetWhenDue } from '../due/forgotten.js';
import type { Grants } from '../grants/grants.js';
import { DONE } from '../held/publisher.js';
import type { Access } from '../operations/access.js';
import { createActorOf } from '../operations/actor.js';
import type { OperationEnvironment } from '../operations/environment.js';
import type { SessionDirectory } from '../sessions/directory.js';
import { workInSessions } from '../sessions/due-in-session.js';
import type { Store } from '../stores/store.js';

interface DueWorkParts extends Pick<OperationEnvironment, 'apps' | 'features' | 'report'> {
  readonly config: ParsedConfig;
  readonly access: Access;
  readonly store: Store;
  readonly authenticator: Authenticator;
  readonly grants: Grants;
  readonly sessions: SessionDirectory;
}

/** Says how due work of sessions is worked off. */
export function setUpDueWork(due: DueWorker, parts: DueWorkParts): void {
  const { access, config, store, authenticator, grants, sessions, report } = parts;
  const { auth, limits } = config;
  const { identify } = authenticator;
  const absent = createAbsent({
    ...{ auth, identify },
    onError: (error) => report(error, 'asking for the user of due work failed'),
  });
  const actorOf = createActorOf({ access, grants, identify, absent });
  const added = parts.features.flatMap(({ due: work }) => work ?? []);
  workInSessions(due, { sessions, limits, actorOf }, added);
  forgetWhenDue(due, store, [NOTE, DONE]);
}
