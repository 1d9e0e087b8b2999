import type { PluginSocketListener, PluginUpgrade } from '../../transports/websocket/plugin-upgrade.js';
import { queryOf } from '../conversation/urls.js';
import { readAgUiRequest } from './request.js';
import { type AgUiRuns, TANSTACK } from './runs.js';
import { numberOf, socketReading } from './segment.js';

/** A page of TanStack AI on a WebSocket, which begins runs or comes back to one. */
export class AgUiSocket implements PluginSocketListener {
  readonly #runs: AgUiRuns;
  readonly #app: string;
  readonly #upgrade: PluginUpgrade;
  /** Controllers that end the telling of runs, by the client's ids. */
  readonly #turns = new Map<string, AbortController>();

  constructor(runs: AgUiRuns, app: string, upgrade: PluginUpgrade) {
    this.#runs = runs;
    this.#app = app;
    this.#upgrade = upgrade;
    const query = queryOf(upgrade.request.url);
    const [runId, offset] = [query.get('runId'), query.get('offset')];
    if (runId !== null && offset !== null) this.#join(runId, offset === '-1' ? null : numberOf(offset));
  }

  /** Comes back to a run. Such a socket tells nothing else. */
  #join(id: string, last: number | null): void {
    const { socket, person } = this.#upgrade;
    const run = { id, isWhole: last === null };
    this.#runs.join({ socket }, person, run, socketReading(id, last)).then(
      () => socket.close(),
      (error: unknown) => socket.fail(error),
    );
  }

  async message(text: string): Promise<void> {
    const { socket, person, parse } = this.#upgrade;
    const body = parse(text);
    const { type, runId } = (body ?? {}) as { readonly type?: unknown; readonly runId?: unknown };
    // A page that leaves a view sends the same as a stop button. The run goes on, as if a stream had been closed.
    if (type === 'abort') return this.#turns.get(String(runId))?.abort();
    const request = { ...readAgUiRequest(body), ...TANSTACK };
    const { runId: id } = request;
    // A repeated request is told again.
    this.#turns.get(id)?.abort();
    const run = await this.#runs.post(person, request, { app: this.#app, isNoted: true });
    const turn = new AbortController();
    this.#turns.set(id, turn);
    this.#runs
      .tell({ socket, signal: turn.signal }, run, socketReading(id, null))
      .catch((error: unknown) => socket.fail(error))
      .finally(() => {
        if (this.#turns.get(id) === turn) this.#turns.delete(id);
      });
  }
}
