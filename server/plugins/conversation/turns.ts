import { type GatewayError, isGatewayError } from '../../../shared/errors.js';

/** The last message of a session, which the next send must follow. Undefined if the work finds it out itself. */
export type Last = string | null | undefined;

/** Has each send follow the message that it was planned for. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /**
   * Does work of the same key one after the other.
   *
   * @param work Repeated, with the then last message, if its send was refused because another gateway or client was first
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
      // The error names the last message, which the caller may not be allowed to read otherwise.
      last = found;
    }
  }
}

const toldBy = ({ details }: GatewayError): { readonly last?: string | null } => details ?? {};
