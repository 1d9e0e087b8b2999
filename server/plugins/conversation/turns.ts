import { type GatewayError, isGatewayError } from '../../../shared/errors.js';

/** What comes last in a session: what is sent has to come `behind` it. Undefined where the work finds that out itself. */
export type Last = string | null | undefined;

/** Lets what is sent follow what it was planned by. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Does work of the same key one after the other.
   *
   * @param work Done again, with what came last by then, where its send was refused: another gateway or client was first
   */
  async take<T>(key: string, work: (last: Last) => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const turn = before ? before.then(() => planned(work)) : planned(work);
    const over = turn.then(
      () => {},
      () => {},
    );
    this.#last.set(key, over);
    try {
      return await turn;
    } finally {
      if (this.#last.get(key) === over) this.#last.delete(key);
    }
  }
}

async function planned<T>(work: (last: Last) => Promise<T>): Promise<T> {
  for (let last: Last; ; ) {
    try {
      return await work(last);
    } catch (error) {
      const { last: found } = isGatewayError(error) && error.code === 'HISTORY_MOVED' ? toldBy(error) : {};
      if (found === undefined) throw error;
      // What may not be read is not found out otherwise.
      last = found;
    }
  }
}

const toldBy = ({ details }: GatewayError): { readonly last?: string | null } => details ?? {};
