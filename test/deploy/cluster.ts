import { expect } from 'chai';
import { buildProgram } from '../support/built-program.js';
import { freePort } from '../support/free-port.js';
import { type Program, runCommand } from '../support/program.js';
import { CLUSTER_PROXY } from './proxies.js';

const GATEWAYS = 3;

/** Gateways that share a store, each a process, behind nginx. */
export class Cluster {
  readonly url: string;
  /** Of each gateway itself. */
  readonly urls: readonly string[];
  readonly #ports: readonly number[];
  readonly #file: string;
  readonly #place: string;
  readonly #running: Program[] = [];

  /** @param place Where sessions are kept. */
  static async start(place: string): Promise<Cluster> {
    const file = await buildProgram('test/deploy/cluster-program.ts');
    const ports: number[] = [];
    while (ports.length < GATEWAYS) ports.push(await freePort());
    const cluster = new Cluster(await CLUSTER_PROXY.start({ ports }), ports, file, place);
    await Promise.all(ports.map((_, at) => cluster.#start(at)));
    return cluster;
  }

  private constructor(url: string, ports: readonly number[], file: string, place: string) {
    this.#ports = ports;
    this.#file = file;
    this.#place = place;
    this.url = url;
    this.urls = ports.map((port) => `http://127.0.0.1:${port}`);
  }

  /** Restarts one of them as the documentation says: nothing else is told of it. It has to end in good order. */
  async restart(at: number): Promise<void> {
    const program = this.#running[at]!;
    expect(await program.kill('SIGTERM'), program.output).to.equal(0);
    await this.#start(at);
  }

  async #start(at: number): Promise<void> {
    const args = [this.#file, String(this.#ports[at]), this.#place];
    const program = runCommand(process.execPath, { args });
    this.#running[at] = program;
    await program.prints(/^started$/m);
  }
}
