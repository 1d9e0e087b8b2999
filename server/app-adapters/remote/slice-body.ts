import type { Turn } from '../../apps/application.js';
import type { ToolSet } from '../../apps/tool.js';
import { offeredTools } from '../offered-tools.js';
import type { Slice } from './lines.js';
import type { SliceBounds } from './options.js';

/** The fields of a slice that differ from one to the next of its run. */
type Told = Pick<Slice, 'id' | 'attempt' | 'steps' | 'calls' | 'said'>;

interface AboutApp {
  readonly name: string;
  readonly version: string | undefined;
  readonly tools: ToolSet;
  readonly bounds: SliceBounds;
}

/** Writes the slices of one run. Their common fields are made once. */
export class SliceBody {
  readonly #turn: Turn;
  readonly #app: AboutApp;
  /** The common fields as JSON, without the closing brace. */
  #common: string | null = null;

  constructor(turn: Turn, app: AboutApp) {
    this.#turn = turn;
    this.#app = app;
  }

  /** A slice as JSON. */
  of(told: Told): string {
    this.#common ??= this.#write();
    const now = JSON.stringify({ ...told, now: Date.now() });
    return `${this.#common},${now.slice(1)}`;
  }

  #write(): string {
    const turn = this.#turn;
    const { name, version, tools, bounds } = this.#app;
    const { history, earlier } = pageOf(turn.history, bounds);
    const { title } = turn.session;
    const common = {
      ...{ protocol: 1, app: name, ...(version !== undefined && { version }), runId: turn.runId },
      ...{ deadlineMs: bounds.sliceMs, user: turn.user, message: turn.message },
      session: {
        ...{ id: turn.session.id, app: turn.session.app, epoch: turn.session.epoch },
        ...(title !== undefined && { title }),
      },
      ...{ metadata: turn.metadata, parameters: turn.parameters, trigger: turn.trigger },
      ...(turn.traceparent !== undefined && { traceparent: turn.traceparent }),
      tools: offeredTools(turn, tools),
      ...(turn.rehearsing && { rehearsing: true }),
      earlier,
    };
    return `${JSON.stringify(common).replace(/\}$/, '')},"history":[${history.join(',')}]`;
  }
}

/** The newest messages that fit, as JSON. */
function pageOf(
  all: Turn['history'],
  { historyMessages, historySize }: SliceBounds,
): { readonly history: readonly string[]; readonly earlier: number } {
  const history: string[] = [];
  let size = 0;
  for (const message of all.toReversed().slice(0, historyMessages)) {
    const text = JSON.stringify(message);
    size += text.length;
    if (size > historySize) break;
    history.unshift(text);
  }
  return { history, earlier: all.length - history.length };
}
