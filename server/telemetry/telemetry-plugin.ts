import type { GatewayPlugin, PluginContext } from '../plugins/plugin.js';
import { loadPeer } from '../runtime/optional-peer.js';
import { CONVENTIONS_VERSION } from './conventions.js';
import { startInstruments } from './instruments.js';
import type { TelemetryOptions } from './options.js';
import { Spans } from './spans.js';

const NAME = 'agent-session-gateway';
const SCHEMA_URL = `https://opentelemetry.io/schemas/${CONVENTIONS_VERSION}`;

/**
 * Reports a gateway's work to OpenTelemetry: metrics, and spans of operations, runs, tools and appends of runs. Needs the package
 * `@opentelemetry/api`, whose SDK decides where spans go. docs/observability.md lists them.
 *
 * @example
 * ```ts
 * gateway.use(telemetryPlugin());
 * ```
 */
export function telemetryPlugin(options: TelemetryOptions = {}): GatewayPlugin {
  return new TelemetryPlugin(options);
}

class TelemetryPlugin implements GatewayPlugin {
  readonly name = 'telemetry';
  readonly #options: TelemetryOptions;
  readonly #stops: (() => void)[] = [];
  #context: PluginContext | null = null;
  #failed = false;

  constructor(options: TelemetryOptions) {
    this.#options = options;
  }

  setup(context: PluginContext): void {
    this.#context = context;
  }

  async start(): Promise<void> {
    const api = await loadPeer('@opentelemetry/api', 'telemetryPlugin', () => import('@opentelemetry/api'));
    const { tracerProvider = api.trace, meterProvider = api.metrics, content = false } = this.#options;
    const context = this.#context!;
    const { gatewayId } = context;
    const failed = (error: unknown): void => {
      if (!this.#failed) context.report(error, 'telling OpenTelemetry failed');
      this.#failed = true;
    };
    const options = { schemaUrl: SCHEMA_URL };
    const tracer = tracerProvider.getTracer(NAME, undefined, options);
    const meter = meterProvider.getMeter(NAME, undefined, options);
    const spans = new Spans({ api, tracer, gatewayId, content, failed });
    spans.start();
    const stop = startInstruments({ meter, context, gatewayId, stats: () => context.stats(), failed });
    this.#stops.push(stop, () => spans.stop());
  }

  destroy(): void {
    for (const stop of this.#stops.splice(0)) stop();
  }
}
