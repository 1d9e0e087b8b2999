import { listenOnLoopback } from '../support/host-server.js';

/** A span as OTLP has it (opentelemetry-proto, JSON), with its attributes by name. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly events: readonly {
    readonly name: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  }[];
  readonly status: { readonly code?: number; readonly message?: string };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

export interface ReceivedPoint {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly count?: number;
  readonly sum?: number;
  readonly value?: number;
}

export interface ReceivedMetric {
  readonly name: string;
  readonly unit: string;
  readonly points: readonly ReceivedPoint[];
}

/** A collector of OTLP over HTTP and JSON, as exporters of the SDK speak it. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** What was told last of each metric. */
  readonly metrics = new Map<string, ReceivedMetric>();
  /** Name and schema of what told. */
  readonly scopes = new Set<string>();
  /** Bodies, as they came. */
  text = '';
  #url = '';

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.#url = await listenOnLoopback(async (request, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      receiver.text += body;
      const told = JSON.parse(body);
      if (request.method === 'POST' && request.url === '/v1/traces') receiver.#takeSpans(told);
      else if (request.method === 'POST' && request.url === '/v1/metrics') receiver.#takeMetrics(told);
      else response.statusCode = 404;
      response.setHeader('content-type', 'application/json').end('{}');
    });
    return receiver;
  }

  get url(): string {
    return this.#url;
  }

  span(name: string): ReceivedSpan {
    const found = this.spans.filter((span) => span.name === name);
    if (found.length !== 1)
      throw new Error(`${found.length} spans ${name}: ${this.spans.map((it) => it.name)}`);
    return found[0]!;
  }

  #takeSpans({ resourceSpans }: any): void {
    for (const { scopeSpans } of resourceSpans) {
      for (const { scope, spans, schemaUrl } of scopeSpans) {
        this.scopes.add(`${scope.name} ${schemaUrl}`);
        for (const span of spans)
          this.spans.push({
            ...span,
            attributes: valuesOf(span.attributes),
            events: (span.events ?? []).map((it: any) => ({ ...it, attributes: valuesOf(it.attributes) })),
            links: span.links ?? [],
            status: span.status ?? {},
          });
      }
    }
  }

  #takeMetrics({ resourceMetrics }: any): void {
    for (const { scopeMetrics } of resourceMetrics)
      for (const { scope, metrics, schemaUrl } of scopeMetrics) {
        this.scopes.add(`${scope.name} ${schemaUrl}`);
        for (const { name, unit, histogram, gauge, sum } of metrics) {
          const points = (histogram ?? gauge ?? sum).dataPoints.map((point: any) => ({
            attributes: valuesOf(point.attributes),
            count: Number(point.count),
            sum: point.sum,
            value: Number(point.asInt ?? point.asDouble),
          }));
          this.metrics.set(name, { name, unit, points });
        }
      }
  }
}

function valuesOf(attributes: readonly { key: string; value: any }[] = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue({ stringValue, boolValue, doubleValue, intValue, arrayValue }: any): unknown {
  return arrayValue?.values.map(plainValue) ?? stringValue ?? boolValue ?? doubleValue ?? Number(intValue);
}
