import { expect } from 'chai';
import { type Family, parseExposition, type Sample } from './exposition.js';

export const METRICS_TOKEN = 'a-token-for-metrics-of-more-than-32-bytes';

type Labels = Readonly<Record<string, string>>;

/** A page of metrics, as Prometheus reads it. */
export class MetricsPage {
  readonly text: string;
  readonly families: ReadonlyMap<string, Family>;

  constructor(text: string) {
    this.text = text;
    this.families = parseExposition(text);
  }

  static async scrape(url: string, token = METRICS_TOKEN): Promise<MetricsPage> {
    const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    expect(response.status).to.equal(200);
    expect(response.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
    return new MetricsPage(await response.text());
  }

  /** The value with just these labels; undefined where there is none. A histogram's is its count. */
  value(name: string, labels: Labels = {}): number | undefined {
    return this.#sample(name, labels)?.value;
  }

  sum(name: string, labels: Labels = {}): number | undefined {
    return this.#sample(name, labels)?.sum;
  }

  #sample(name: string, labels: Labels): Sample | undefined {
    const family = this.families.get(name);
    if (!family) throw new Error(`${name} is not exported`);
    return family.samples.get(JSON.stringify(Object.entries(labels).sort()));
  }

  /** Names of labels of a metric, those of the samples there are. */
  labelsOf(name: string): readonly string[] {
    const samples = [...(this.families.get(name)?.samples.values() ?? [])];
    return [...new Set(samples.flatMap(({ labels }) => Object.keys(labels)))];
  }
}
