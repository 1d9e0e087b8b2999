import type { AppEvent, Turn } from '../../apps/application.js';
import { askedBy, FedChild } from '../fed-child.js';
import type { GraphToolCall } from './graph.js';
import type { GraphReader } from './reader.js';

/** A graph that is told as a run: the app's, or one that works for a tool call. */
interface ToldGraph {
  readonly reader: GraphReader;
  readonly turn: Turn | Promise<Turn | null>;
  /** Absent for the app's graph. */
  readonly child?: FedChild;
  readonly callId?: string | undefined;
  readonly below: Set<ToldGraph>;
}

/**
 * Tells the graphs that run for a tool call as child runs. Other subgraphs are nodes of the graph above them, which has their messages in its state.
 * The namespace of a graph is the same after a restart, and so is its child's id.
 */
export class Subgraphs {
  readonly #turn: Turn;
  readonly #root: ToldGraph;
  readonly #graphs = new Map<string, ToldGraph>();
  readonly #makeReader: (turn: Promise<Turn | null>) => GraphReader;

  constructor(turn: Turn, root: GraphReader, makeReader: (turn: Promise<Turn | null>) => GraphReader) {
    this.#turn = turn;
    this.#root = { reader: root, turn, below: new Set() };
    this.#makeReader = makeReader;
  }

  /** Reads one item of the stream. Yields what the app's own graph says. */
  *read(namespace: readonly string[], mode: string, payload: any): Iterable<AppEvent> {
    // Every graph above reports an interrupt too, and custom events are the app's.
    if (mode === 'custom' || payload?.__interrupt__) return yield* this.#root.reader.read(mode, payload);
    const graph = this.#graphOf(mode === 'messages' ? graphOfMessage(namespace, payload) : namespace);
    if (graph.child) for (const event of graph.reader.read(mode, payload)) graph.child.put(event);
    else yield* graph.reader.read(mode, payload);
    this.#settle(graph);
  }

  /** Settles once all children have said what they were to say. */
  async said(): Promise<void> {
    const all = [...new Set(this.#graphs.values())];
    await Promise.all(all.map(({ child }) => child?.said()));
  }

  /** Ends all children, and waits until that is stored. */
  async end(): Promise<void> {
    await Promise.all([...this.#root.below].map(ended));
  }

  #graphOf(namespace: readonly string[]): ToldGraph {
    if (namespace.length === 0) return this.#root;
    const key = namespace.join('|');
    const known = this.#graphs.get(key);
    if (known) return known;
    const above = this.#graphOf(graphAbove(namespace));
    const calls = this.#openCalls(above);
    const graph = calls.length > 0 ? this.#begin(above, namespace, calls) : above;
    this.#graphs.set(key, graph);
    return graph;
  }

  /** The calls that wait for their results; after a restart, those that the answer was waiting for. */
  #openCalls({ reader, child }: ToldGraph): readonly GraphToolCall[] {
    const open = reader.openCalls;
    return open.length > 0 || child || reader.hasRead ? open : openIn(this.#turn);
  }

  #begin(above: ToldGraph, namespace: readonly string[], calls: readonly GraphToolCall[]): ToldGraph {
    const key = namespace.join('|');
    const [call, ...others] = calls;
    const only = others.length === 0 ? call : undefined;
    const callId = only?.id;
    const app = others.every(({ name }) => name === call!.name) ? call!.name : nodeOf(namespace);
    const message = only ? askedBy(only.args) : app;
    const child = new FedChild(above.turn, { id: key, app, message, callId });
    const graph = {
      reader: this.#makeReader(child.turn),
      turn: child.turn,
      child,
      callId,
      below: new Set<ToldGraph>(),
    };
    above.below.add(graph);
    return graph;
  }

  /** Ends the graphs whose calls have their results. */
  #settle({ reader, below }: ToldGraph): void {
    if (below.size === 0) return;
    const open = new Set(reader.openCalls.map(({ id }) => id));
    for (const graph of below) {
      if (graph.callId === undefined ? open.size > 0 : open.has(graph.callId)) continue;
      void ended(graph);
    }
  }
}

/** Ends a child, once those below it have ended. */
async function ended({ reader, child, below }: ToldGraph): Promise<void> {
  for (const event of reader.end()) child!.put(event);
  await Promise.all([...below].map(ended));
  child!.end();
  await child!.over();
}

/** The namespace of the graph that a message is from. Its node is the last part in its metadata, and in the stream of versions before 1.5. */
function graphOfMessage(namespace: readonly string[], payload: any): readonly string[] {
  if (namespace.length === 0) return namespace;
  const node = payload?.[1]?.langgraph_checkpoint_ns;
  return typeof node === 'string' ? node.split('|').slice(0, -1) : namespace.slice(0, -1);
}

/** The namespace of the graph above one. A number tells graphs apart that one node runs. */
function graphAbove(namespace: readonly string[]): readonly string[] {
  const isNumbered = /^\d+$/.test(namespace.at(-1)!);
  return namespace.slice(0, isNumbered ? -2 : -1);
}

/** The node that runs a graph. */
function nodeOf(namespace: readonly string[]): string {
  const task = namespace.findLast((part) => part.includes(':')) ?? namespace.at(-1)!;
  return task.split(':')[0]!;
}

function openIn({ resumed }: Turn): readonly GraphToolCall[] {
  const content = resumed?.content ?? [];
  const answered = new Set(content.flatMap((block) => (block.type === 'tool_result' ? [block.callId] : [])));
  return content.flatMap((block) =>
    block.type === 'tool_use' && !answered.has(block.callId)
      ? [{ id: block.callId, name: block.name, args: block.input }]
      : [],
  );
}
