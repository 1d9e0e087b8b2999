import { spawn } from 'node:child_process';
import { buildProgram } from '../support/built-program.js';
import { TOKEN } from '../support/gateway.js';
import { Program } from '../support/program.js';
import type { Closing } from './closing.js';
import { Line } from './line.js';
import type { StoreSpec, StoreUnderTest } from './stores/store-under-test.js';

/** What a gateway's process is started with. */
export interface NodeSpec {
  readonly name: string;
  readonly token: string;
  readonly callsFile: string;
  readonly store: StoreSpec;
}

export interface ChaosNodeOptions {
  readonly name: string;
  readonly store: StoreUnderTest;
  readonly leaseMs: number;
  readonly callsFile: string;
  readonly closing: Closing;
}

/** Starts a program; whoever started it ends it. @param path Of its TypeScript, below the root */
export async function startProgram(path: string, args: readonly string[]): Promise<Program> {
  const file = await buildProgram(path);
  return new Program(spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }));
}

/** A gateway in a process of its own, with a line to the store and a line in front that tests can break. */
export class ChaosNode {
  readonly name: string;
  /** Between the clients and the gateway. */
  readonly front: Line;
  /** Between the gateway and its store. */
  readonly back: Line;
  readonly #spec: NodeSpec;
  #program: Program | null = null;
  #frozen = false;
  /** What its processes have printed, the last one's last. */
  readonly outputs: string[] = [];

  private constructor(name: string, front: Line, back: Line, spec: NodeSpec) {
    this.name = name;
    this.front = front;
    this.back = back;
    this.#spec = spec;
  }

  static async start({ name, store, leaseMs, callsFile, closing }: ChaosNodeOptions): Promise<ChaosNode> {
    const back = await Line.open(store.port, closing);
    const front = await Line.open(0, closing);
    const spec = {
      name,
      token: TOKEN,
      callsFile,
      store: {
        ...{ kind: store.kind, host: '127.0.0.1', port: back.port, leaseMs },
        ...(store.options && { options: store.options }),
      },
    };
    const node = closing.add(new ChaosNode(name, front, back, spec), (it) => it.kill());
    await node.start();
    return node;
  }

  get url(): string {
    return `http://127.0.0.1:${this.front.port}`;
  }

  /** Whether it runs: also while it is frozen. */
  get up(): boolean {
    return this.#program !== null;
  }

  get frozen(): boolean {
    return this.#frozen;
  }

  async start(): Promise<void> {
    const program = await startProgram('test/chaos/node-program.ts', [JSON.stringify(this.#spec)]);
    this.#program = program;
    const [, port] = await program.prints(/listening on (\d+)\./);
    this.front.target = Number(port);
  }

  /** Ends it at once, without a word. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Ends it in order: it drains. */
  async drain(): Promise<void> {
    await this.#end('SIGTERM');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const program = this.#program;
    if (!program) return;
    this.#program = null;
    if (signal !== 'SIGTERM') this.#frozen = false;
    await program.kill(signal);
    this.outputs.push(program.output);
    this.front.sever();
  }

  /** It stands still, with everything that it has open. */
  freeze(): void {
    this.#frozen = true;
    this.#program?.child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#frozen = false;
    this.#program?.child.kill('SIGCONT');
  }

  /** Its wall clock jumps by an hour, and back the next time. */
  jump(): void {
    this.#program?.child.kill('SIGUSR2');
  }

  /** What it has printed since it was started last. */
  get output(): string {
    return this.#program?.output ?? '';
  }
}
