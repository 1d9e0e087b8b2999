import type { IncomingMessage } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { newId } from '../../ids.js';
import type { PluginPeers } from '../../plugins/plugin.js';
import type { PulledWork } from './pulled-app.js';
import { readerOf, sliceIsOver } from './work-queue.js';

/** A gateway where something of an app waits. */
interface WaitingPlace {
  readonly app: string;
  readonly holder: string;
}

/** A reply that came to another gateway, and its name there. */
interface SentReply extends WaitingPlace {
  readonly slice: string;
  readonly reply: string;
}

/**
 * Has processes that ask one gateway work for all gateways on its store. A slice stays with the gateway that holds its session, and is given to an asker of
 * another one by its own queue. That gateway reads the reply, piece by piece, from whichever gateway got it.
 */
export class WorkLink {
  readonly #peers: PluginPeers;
  readonly #works: ReadonlyMap<string, PulledWork>;
  /** Replies that other gateways read, by names that they have here: two may be to one slice. */
  readonly #sent = new Map<string, AsyncIterator<Buffer>>();

  constructor(peers: PluginPeers, works: ReadonlyMap<string, PulledWork>) {
    this.#peers = peers;
    this.#works = works;
    const { holder } = peers;
    for (const [app, { queue }] of works) {
      const tell = (name: string): void => void peers.askAll(name, { app, holder }).catch(() => {});
      queue.join({ holder, waits: () => tell('waits'), wants: () => tell('wants') });
    }
    peers.on<WaitingPlace>('wants', ({ app, holder: asker }) => {
      if (works.get(app)?.queue.isWaiting) void peers.ask(asker, 'waits', { app, holder }).catch(() => {});
    });
    peers.on<WaitingPlace>('waits', ({ app, holder: giver }) => {
      const fetch = async (): Promise<string | null> =>
        ((await peers.ask(giver, 'take', app)) as string | null | undefined) ?? null;
      void works.get(app)?.queue.bring(fetch);
    });
    peers.on<string>('take', (app) => works.get(app)?.queue.next() ?? null);
    peers.on<SentReply>('reply', (sent) => this.#read(sent));
    peers.on<string>('piece', (reply) => this.#piece(reply));
  }

  /** Takes the reply to a slice of any of the gateways. Resolves once it was read. @throws GatewayError `RUN_NOT_FOUND` for a slice that is over; `APP_REPLY_INVALID` */
  async reply(app: string, id: string, request: IncomingMessage): Promise<void> {
    const { holder } = this.#peers;
    const reader = readerOf(id);
    if (reader === '' || reader === holder) return this.#works.get(app)!.queue.reply(id, request);
    const through = request.pipe(new PassThrough());
    const closed = (): void => {
      if (!request.complete) through.destroy();
    };
    request.once('close', closed);
    const reply = newId('reply');
    this.#sent.set(reply, through[Symbol.asyncIterator]());
    try {
      const sent: SentReply = { app, holder, slice: id, reply };
      const read = await this.#peers.ask(reader, 'reply', sent, { waitMs: Number.POSITIVE_INFINITY });
      if (read === undefined) throw sliceIsOver();
    } finally {
      this.#sent.delete(reply);
      request.off('close', closed);
      through.destroy();
    }
  }

  /** Reads a reply that another gateway got. */
  async #read({ app, holder, slice, reply }: SentReply): Promise<true> {
    const queue = this.#works.get(app)?.queue;
    if (!queue) throw sliceIsOver();
    const pieces = Readable.from(this.#pieces(reply, holder, queue.silenceMs));
    try {
      await queue.reply(slice, pieces);
      return true;
    } finally {
      pieces.destroy();
    }
  }

  async *#pieces(reply: string, holder: string, waitMs: number): AsyncGenerator<Buffer> {
    for (;;) {
      const piece = (await this.#peers.ask(holder, 'piece', reply, { waitMs })) as string | null | undefined;
      if (!piece) return;
      yield Buffer.from(piece, 'base64');
    }
  }

  /** The next piece of a reply, as base64; null at its end. One that broke off just lacks its last line. */
  async #piece(reply: string): Promise<string | null> {
    try {
      const next = await this.#sent.get(reply)?.next();
      return next && !next.done ? next.value.toString('base64') : null;
    } catch {
      return null;
    }
  }
}
