import type { LoggedEventData } from '../../shared/events.js';
import type { Usage } from '../../shared/messages.js';
import type { UsedCall } from '../apps/application.js';
import { givenId, ownKey } from '../ids.js';
import { copyOf } from './answer-notes.js';
import type { Resumption } from './resumption.js';
import { isInStep } from './steps.js';

/** The run that uses. */
interface UsingRun {
  readonly port: { priced(usage: Usage): Usage };
  readonly resumption: Resumption | null;
  append(type: 'usage_added', used: LoggedEventData['usage_added']): void;
}

/** The uses of one run, as its app tells them. */
export class Uses {
  readonly #run: UsingRun;
  /** Names that the app has given. */
  #named: Set<string> | null = null;
  #count = 0;
  /** The number of uses that were logged, and of those that were waited for. */
  logged = 0;
  stored = 0;

  constructor(run: UsingRun) {
    this.#run = run;
  }

  /**
   * Logs what a call has used, unless it is counted already.
   *
   * @throws GatewayError `INTERNAL` for a value that is not an object, `INVALID_PARAMS` for an invalid id
   */
  add({ id: given, ...counts }: UsedCall): void {
    const { port, resumption } = this.#run;
    const usage = port.priced(copyOf(counts));
    const isNamed = given !== undefined;
    const id = isNamed ? givenId(given, 'usage.id') : this.#next();
    if (id === undefined) return this.#log({ usage });
    this.#named ??= new Set();
    if (this.#named.has(id)) return;
    this.#named.add(id);
    if (!resumption?.takeUse({ id, usage }, isNamed)) this.#log({ id, usage });
  }

  #log(used: LoggedEventData['usage_added']): void {
    this.logged += 1;
    this.#run.append('usage_added', used);
  }

  /** The name of a use without one: its number in the run. One within a step has none, since it is of a call that is made now. */
  #next(): string | undefined {
    if (isInStep()) return undefined;
    this.#count += 1;
    return ownKey('use', this.#count);
  }
}
