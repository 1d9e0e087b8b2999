import cluster from 'node:cluster';
import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import { GatewayError } from '../../../shared/errors.js';
import { loadPeer } from '../../runtime/optional-peer.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import { Measures } from '../measures.js';
import type { GatewayPlugin, PluginContext } from '../plugin.js';
import { type Admission, admissionOf } from './access.js';
import { addStats } from './gauges.js';
import type { MetricsPluginOptions } from './options.js';
import { registrySink } from './recorder.js';

/**
 * Serves the gateway's metrics for Prometheus. Needs the package `prom-client`. docs/metrics.md lists them.
 *
 * @throws GatewayError `INVALID_REQUEST` if `token` or `addresses` is malformed; `use` throws it if there is neither, nor a monitoring port
 *
 * @example
 * ```ts
 * gateway.use(metricsPlugin({ token: process.env.METRICS_TOKEN!, addresses: ['10.0.0.0/8'] }));
 * ```
 */
export function metricsPlugin(options: MetricsPluginOptions = {}): GatewayPlugin {
  return new MetricsPlugin(options);
}

/** Identifies the workers that share a port, whose metrics are served together. */
const WORKERS = `${hostname()} ${process.ppid}`;

class MetricsPlugin implements GatewayPlugin {
  readonly name = 'metrics';
  readonly #options: MetricsPluginOptions;
  readonly #admit: Admission;
  #context: PluginContext | null = null;
  #recorder: Measures | null = null;
  #registry: Promise<Registry> | null = null;

  constructor(options: MetricsPluginOptions) {
    this.#options = options;
    this.#admit = admissionOf(options);
  }

  setup(context: PluginContext): void {
    this.#context = context;
    const { path = '/metrics', token, addresses } = this.#options;
    const isPublic = token !== undefined || addresses !== undefined;
    if (!isPublic && !context.monitored)
      throw new GatewayError({
        code: 'INVALID_REQUEST',
        message: 'metricsPlugin: give it a token, addresses or both, or the gateway a `monitor`',
      });
    context.page('/metrics', async () => {
      const { contentType: media, text } = await this.#page();
      return { media, text };
    });
    context.peers.on<string>('metrics', async (workers) =>
      cluster.isWorker && workers === WORKERS ? (await this.#ready()).getMetricsAsJSON() : null,
    );
    if (isPublic)
      context.route(path, (call) => this.#serve(call), { methods: ['GET', 'HEAD'], needsStore: false });
  }

  async start(): Promise<void> {
    await this.#ready();
  }

  destroy(): void {
    this.#recorder?.stop();
  }

  /** Opens the registry once, also if an embedded gateway is asked before it was started. */
  #ready(): Promise<Registry> {
    this.#registry ??= this.#open();
    return this.#registry;
  }

  async #open(): Promise<Registry> {
    const client = await loadPeer('prom-client', 'metricsPlugin', () => import('prom-client'));
    const { registry = new client.Registry(), processMetrics = this.#options.registry === undefined } =
      this.#options;
    const context = this.#context!;
    addStats(client, registry, () => context.stats());
    this.#recorder = new Measures(registrySink(client, registry), context);
    this.#recorder.start();
    if (processMetrics) client.collectDefaultMetrics({ register: registry });
    return registry;
  }

  /** The metrics of all workers together. A worker that does not answer is left out. */
  async #ofAll(registry: Registry): Promise<string> {
    const { AggregatorRegistry } = await import('prom-client');
    const others = await this.#context!.peers.askAll('metrics', WORKERS);
    const told = others.filter((metrics) => metrics !== null) as object[];
    return AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...told]).metrics();
  }

  async #page(): Promise<{ readonly contentType: string; readonly text: string }> {
    const registry = await this.#ready();
    const text = await (cluster.isWorker ? this.#ofAll(registry) : registry.metrics());
    return { contentType: registry.contentType, text };
  }

  async #serve(call: PluginRequest): Promise<void> {
    this.#admit(call);
    const { contentType, text } = await this.#page();
    const { response } = call;
    response.setHeader('Content-Type', contentType);
    response.setHeader('Cache-Control', 'no-store');
    response.setHeader('X-Content-Type-Options', 'nosniff');
    response.end(text);
  }
}
