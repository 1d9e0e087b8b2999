import { connect, createServer, type Socket } from 'node:net';
import { portOf } from '../../support/host-server.js';

/** Where a call is hit: before it arrives, when it was made and is not answered yet, or so that its answer is late. */
export const CUTS = ['before', 'after', 'late'] as const;
/** `standing` lets it pass, and what is done meanwhile is done before its answer is heard. */
export type Cut = (typeof CUTS)[number] | 'standing';

/** What becomes of one request of those that a call makes. */
export interface Hit {
  readonly cut: Cut;
  /** Which of the requests from now on, from 1. */
  readonly nth: number;
  /** Done at the moment of the cut, before anybody can come again. */
  readonly meanwhile?: (() => unknown) | undefined;
}

/** How long a late answer takes; deadlines are to be shorter. */
export const LATE_MS = 400;

/** What hits one request of those to come, and lets all others pass. */
export class Armed {
  #hit: Hit | null = null;
  #left = 0;
  /** Resolves when what is done at the moment of the cut is done, or the request has ended without. */
  #over: Promise<void> | undefined;
  #end = (): void => {};

  arm(hit: Hit): void {
    this.#hit = hit;
    this.#left = hit.nth;
  }

  /** @returns Whether there was a request to be hit. It may have been another than the call's, which is over before what is done then. */
  async disarm(): Promise<boolean> {
    const wasHit = this.#hit === null;
    this.#hit = null;
    await this.#over;
    return wasHit;
  }

  /** Does what is to be done at the moment of a cut. */
  protected async meanwhile({ meanwhile }: Hit): Promise<void> {
    try {
      await meanwhile?.();
    } finally {
      this.over();
    }
  }

  /** Nothing more is done of what hits a request. */
  protected over(): void {
    this.#end();
  }

  /** What the next request is hit by. */
  protected take(): Hit | null {
    if (!this.#hit || --this.#left > 0) return null;
    const taken = this.#hit;
    this.#hit = null;
    // From now on: the call may be over before the moment has come, where the request was another's.
    this.#over = taken.meanwhile && new Promise((resolve) => (this.#end = resolve));
    return taken;
  }
}

/** A TCP line to a server that hits one request at one moment. */
export class CutLine extends Armed {
  readonly port: number;
  readonly #reword: (chunk: Buffer) => Buffer;

  private constructor(port: number, reword: (chunk: Buffer) => Buffer) {
    super();
    this.port = port;
    this.#reword = reword;
  }

  /** @param reword What the server says, as it is heard */
  static async to(target: number, reword = (chunk: Buffer): Buffer => chunk): Promise<CutLine> {
    let line: CutLine;
    const server = createServer((client) => line.#pass(client, connect(target, '127.0.0.1')));
    line = new CutLine(await portOf(server), reword);
    return line;
  }

  #pass(client: Socket, server: Socket): void {
    let isIntroduced = false;
    /** The hit whose request the server was given here. */
    let hit: Hit | null = null;
    let late: Promise<unknown> | null = null;
    const end = (): void => {
      client.destroy();
      server.destroy();
      if (hit) this.over();
    };
    for (const socket of [client, server]) {
      socket.setNoDelay(true).on('error', () => {});
      socket.on('close', end);
    }
    client.on('data', (chunk: Buffer) => {
      // What a connection begins with is no request.
      const taken = isIntroduced && this.take();
      isIntroduced = true;
      if (!taken) return void server.write(chunk);
      if (taken.cut === 'before') return void this.#cut(taken, end);
      hit = taken;
      server.write(chunk);
    });
    server.on('data', (said: Buffer) => {
      const chunk = this.#reword(said);
      if (hit?.cut === 'after') {
        const cut = hit;
        hit = null;
        server.pause();
        return void this.#cut(cut, end);
      }
      if (hit?.cut === 'standing') {
        const standing = hit;
        hit = null;
        server.pause();
        return void this.meanwhile(standing).then(() => {
          client.write(chunk);
          server.resume();
        });
      }
      if (hit) {
        late = new Promise((resolve) => setTimeout(resolve, LATE_MS));
        hit = null;
      }
      if (late) void late.then(() => client.write(chunk));
      else client.write(chunk);
    });
  }

  async #cut(hit: Hit, end: () => void): Promise<void> {
    await this.meanwhile(hit);
    end();
  }
}
