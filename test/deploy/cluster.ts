import { expect } from 'chai';
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
  readonly #place: string;
  readonly #running: Program[] = [];

  /** @param program Of each gateway: `cluster-program.ts`, as one file. @param place Where sessions are kept. */
  static async start(program: string, place: string): Promise<Cluster> {
    const ports: number[] = [];
    while (ports.length < GATEWAYS) ports.push(await freePort());
    const cluster = new Cluster(await CLUSTER_PROXY.start({ ports }), ports, place);
    await Promise.all(ports.map((_, at) => cluster.#start(at, program)));
    return cluster;
  }

  private constructor(url: string, ports: readonly number[], place: string) {
    this.#ports = ports;
    this.#place = place;
    this.url = url;
    this.urls = ports.map((port) => `http://127.0.0.1:${port}`);
  }

  /**
   * Restarts one of them as the documentation says: nothing else is told of it. It has to end in good order.
   *
   * @param program The one that takes its place.
   */
  async restart(at: number, program: string): Promise<void> {
    const before = this.#running[at]!;
    expect(await before.kill('SIGTERM'), before.output).to.equal(0);
    await this.#start(at, program);
  }

  async #start(at: number, program: string): Promise<void> {
    const gateway = runCommand(process.execPath, { args: [program, String(this.#ports[at]), this.#place] });
    this.#running[at] = gateway;
    await gateway.prints(/^started$/m);
  }
}
