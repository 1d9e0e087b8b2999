import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import type {
  AgentCapabilities,
  ClientConnection,
  ClientContext,
  InitializeRequest,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from '@agentclientprotocol/sdk';
import { IS_GROUP, signalGroup } from '../signal-group.js';
import { upstreamFailed } from '../upstream-failed.js';
import type { AcpLibrary } from './sdk.js';

/** The program of an agent, and what it is given. */
export interface AgentProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly startMs: number;
  readonly messageBytes: number;
}

/** The side of a run that hears what the agent says meanwhile. */
export interface AgentListener {
  update(update: SessionUpdate): void;
  permit(request: RequestPermissionRequest): Promise<RequestPermissionResponse>;
  /** Resolves once the run keeps up with the agent. Nothing more is read before. */
  room(): Promise<void>;
}

/** Characters of its standard error that are kept for the log. */
const STDERR = 4_000;
/** Milliseconds from the request to end until the end. */
const TERM_MS = 2_000;

/** One process of an agent, which answers one session. Its process group ends with it. */
export class AgentProcess {
  /** The agent's session; null before the first. */
  session: string | null = null;
  /** The run that has asked it last. */
  lastRun: string | null = null;
  /** The cost of its session so far, as it says. */
  cost = 0;
  /** Whether a run has it. */
  isTaken = false;
  /** Settles once what it was asked has ended. */
  free: Promise<unknown> = Promise.resolve();
  capabilities: AgentCapabilities = {};
  listener: AgentListener | null = null;
  readonly cwd: string;
  /** Resolves once the process has ended. */
  readonly over: Promise<void>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #connection: ClientConnection;
  readonly #death: Promise<never>;
  #die!: (error: Error) => void;
  #isDead = false;
  #stderr = '';

  private constructor(library: AcpLibrary, program: AgentProgram) {
    this.#death = new Promise((_, reject) => {
      this.#die = reject;
    });
    this.#death.catch(() => {});
    const { command, args, cwd, env, messageBytes } = program;
    this.cwd = cwd;
    this.#child = spawn(command, [...args], { cwd, env: { ...env }, detached: IS_GROUP });
    const { stdin, stdout, stderr } = this.#child;
    this.#child.once('error', (error) => this.#fail(error));
    this.#child.once('exit', (code, signal) => {
      signalGroup(this.#child, 'SIGKILL');
      this.#fail(new Error(`The agent ended with ${signal ?? `code ${code}`}`));
    });
    this.over = new Promise((resolve) => this.#child.once('close', () => resolve()));
    stdin.on('error', () => {});
    stderr.on('data', (piece: Buffer) => {
      this.#stderr = `${this.#stderr}${piece}`.slice(-STDERR);
    });
    const stream = library.ndJsonStream(
      Writable.toWeb(stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(Readable.from(this.#read(stdout))) as ReadableStream<Uint8Array>,
      { maxMessageBytes: messageBytes },
    );
    this.#connection = library
      .client({ name: 'agent-session-gateway' })
      .onRequest('session/request_permission', async ({ params }) =>
        this.listener && params.sessionId === this.session
          ? this.listener.permit(params)
          : { outcome: { outcome: 'cancelled' } },
      )
      .onNotification('session/update', ({ params }) => {
        if (params.sessionId === this.session) this.listener?.update(params.update);
      })
      .connect(stream);
    const { signal } = this.#connection;
    const closed = () => this.#fail(signal.reason ?? new Error('The agent has closed its output'));
    signal.addEventListener('abort', closed, { once: true });
  }

  /** @throws GatewayError `UPSTREAM_FAILED` if it does not start */
  static async start(library: AcpLibrary, program: AgentProgram): Promise<AgentProcess> {
    const agent = new AgentProcess(library, program);
    const asked: InitializeRequest = { protocolVersion: library.PROTOCOL_VERSION, clientCapabilities: {} };
    const { protocolVersion, agentCapabilities = {} } = await agent.within(program.startMs, (context) =>
      context.request('initialize', asked),
    );
    if (protocolVersion !== library.PROTOCOL_VERSION) {
      agent.end();
      throw upstreamFailed(`The agent speaks version ${protocolVersion} of the protocol`);
    }
    agent.capabilities = agentCapabilities;
    return agent;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Asks the agent. @throws GatewayError `UPSTREAM_FAILED` if it refuses, or dies */
  async ask<T>(request: (context: ClientContext) => Promise<T>): Promise<T> {
    try {
      return await Promise.race([request(this.#connection.agent), this.#death]);
    } catch (error) {
      throw upstreamFailed(error);
    }
  }

  /** The same, for an agent that is ended if it does not answer in time. */
  async within<T>(ms: number, request: (context: ClientContext) => Promise<T>): Promise<T> {
    const late = () => {
      this.#fail(new Error(`The agent did not answer in ${ms} ms`));
    };
    const timer = setTimeout(late, ms);
    try {
      return await this.ask(request);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Whether this process may end while the agent lives, which then ends too. */
  hold(isNeeded: boolean): void {
    const parts = [this.#child, this.#child.stdin, this.#child.stdout, this.#child.stderr];
    for (const part of parts as readonly { ref?(): void; unref?(): void }[])
      if (isNeeded) part.ref?.();
      else part.unref?.();
  }

  /** Ends the process and all that it has started. */
  end(): void {
    this.#fail(new Error('The agent was ended'));
  }

  /** The same, at once. */
  kill(): void {
    if (!this.#hasEnded) signalGroup(this.#child, 'SIGKILL');
  }

  get #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async *#read(stdout: Readable): AsyncGenerator<Uint8Array> {
    for await (const piece of stdout) {
      yield piece as Uint8Array;
      await this.listener?.room();
    }
  }

  #fail(reason: unknown): void {
    if (this.#isDead) return;
    this.#isDead = true;
    const cause = reason instanceof Error ? reason : new Error(String(reason));
    const said = this.#stderr.trim();
    this.#die(upstreamFailed(said === '' ? cause : new Error(`${cause.message}: ${said}`, { cause })));
    this.#child.stdin.end();
    if (this.#hasEnded) return;
    signalGroup(this.#child, 'SIGTERM');
    setTimeout(() => this.kill(), TERM_MS).unref();
  }
}
