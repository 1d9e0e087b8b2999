import type { OnBusy } from '../../shared/events.js';
import type { StopReason } from '../../shared/messages.js';

/** A message of the model. */
export interface ModelMessage {
  readonly id: string;
  readonly text: string;
  /** How the run ended whose answer it is; null for a message that somebody sent. */
  readonly ending: StopReason | null;
}

/** A run that was accepted: it answers `message`, which is new unless it answers that again. */
export interface ModelRun {
  readonly runId: string;
  readonly onBusy: OnBusy;
  /** What goes before its message. */
  readonly preceding: readonly ModelMessage[];
  readonly message: ModelMessage;
  /** What its answer says before the run is told how to go on. */
  readonly begins: string;
}

/** Where a message is to stand that does not follow the last one. */
export type ModelPlace = { readonly parent: string | null } | { readonly replaces: string };

/** What the model calls the answer of a run, whose id the gateway makes. */
export const answerOf = (runId: string): string => `answer of ${runId}`;

/** What a conversation that people change should come to, told without a log, a store or a cut. */
export class TreeModel {
  /** Every message that is or was shown, in the order in which they came, with what each follows. */
  readonly messages = new Map<string, ModelMessage & { readonly parent: string | null }>();
  tip: string | null = null;
  active: ModelRun | null = null;
  waiting: ModelRun[] = [];
  /** How each run ended. */
  readonly ends = new Map<string, StopReason>();

  /** The messages from the first to one. */
  path(end = this.tip): string[] {
    const path: string[] = [];
    for (let id = end; id !== null; id = this.messages.get(id)!.parent) path.unshift(id);
    return path;
  }

  /** What follows a message, in the order in which it came. */
  replies(parent: string | null): string[] {
    return [...this.messages.values()].flatMap((it) => (it.parent === parent ? it.id : []));
  }

  /** Where a send at a place goes, `undefined` for behind all others, or the code that it is refused with. */
  placeOf(place: ModelPlace | undefined, onBusy: OnBusy): { parent?: string | null; code?: string } {
    const behindAnswer = place && 'parent' in place && this.active && place.parent === this.#answerId;
    if (!place || behindAnswer) return {};
    if (this.active && onBusy === 'reject') return { code: 'SESSION_BUSY' };
    const id = 'parent' in place ? place.parent : place.replaces;
    if (id !== null && !this.messages.has(id)) return { code: 'MESSAGE_NOT_FOUND' };
    if ('parent' in place) return { parent: id };
    return this.path().includes(id!) ? { parent: this.messages.get(id!)!.parent } : { code: 'HISTORY_MOVED' };
  }

  /** The message that is answered again, or the code of why there is none. */
  answered(id?: string): { message?: ModelMessage; code?: string } {
    const named = id === undefined || (this.active && id === this.#answerId) ? this.tip : id;
    if (named !== null && !this.messages.has(named)) return { code: 'MESSAGE_NOT_FOUND' };
    if (named !== null && !this.path().includes(named)) return { code: 'HISTORY_MOVED' };
    const asked = this.path(named).findLast((one) => this.messages.get(one)!.ending === null);
    return asked === undefined ? { code: 'MESSAGE_NOT_FOUND' } : { message: this.messages.get(asked)! };
  }

  /** Why a message can't come in behind the others, if it can't. @param limit Longest queue */
  refusal(onBusy: OnBusy, limit: number): string | null {
    if (this.active && onBusy === 'reject') return 'SESSION_BUSY';
    return this.active && this.waiting.length >= limit ? 'QUEUE_FULL' : null;
  }

  /** Takes a message in. */
  accept(run: ModelRun): void {
    if (run.onBusy === 'interrupt') {
      this.waiting.unshift(run);
      this.#end('superseded');
    } else {
      const other = run.onBusy === 'steer' ? this.waiting.findIndex(({ onBusy }) => onBusy !== 'steer') : -1;
      this.waiting.splice(other < 0 ? this.waiting.length : other, 0, run);
    }
    this.advance();
  }

  /** Has the conversation end at another message; all that runs or waits ends. */
  move(tip: string | null): void {
    if (this.active && tip === this.#answerId) return;
    for (const { runId } of this.waiting.splice(0)) this.ends.set(runId, 'superseded');
    this.#end('superseded');
    this.tip = tip;
  }

  /** The active run takes its steering messages in. @returns their runs */
  steer(): ModelRun[] {
    const taken = this.waiting.filter(({ onBusy }) => onBusy === 'steer');
    this.waiting = this.waiting.filter((run) => !taken.includes(run));
    for (const run of taken) {
      this.#follow([...run.preceding, run.message]);
      this.ends.set(run.runId, 'steered');
    }
    return taken;
  }

  /** The active run ends; an answer that ended well and says nothing is not kept. @param more What it says at last */
  finish(ending: StopReason, more = ''): void {
    this.#end(ending, more);
  }

  /** Ends a run that runs or waits. */
  abort(runId: string): void {
    if (this.active?.runId === runId) return this.#end('aborted');
    this.waiting = this.waiting.filter((run) => run.runId !== runId);
    this.ends.set(runId, 'aborted');
  }

  /** Starts what is next, if nothing runs. */
  advance(): void {
    const run = this.active ? undefined : this.waiting.shift();
    if (!run) return;
    this.#follow([...run.preceding, run.message]);
    this.active = run;
  }

  get #answerId(): string | null {
    return this.active && answerOf(this.active.runId);
  }

  #follow(messages: readonly ModelMessage[]): void {
    for (const message of messages) {
      // One that is answered again is there.
      if (message.id !== this.tip) this.messages.set(message.id, { ...message, parent: this.tip });
      this.tip = message.id;
    }
  }

  #end(ending: StopReason, more = ''): void {
    const run = this.active;
    if (!run) return;
    this.active = null;
    this.ends.set(run.runId, ending);
    const text = run.begins + more;
    if (ending !== 'end' || text !== '') this.#follow([{ id: answerOf(run.runId), text, ending }]);
  }
}
