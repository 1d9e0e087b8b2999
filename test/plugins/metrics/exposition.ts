/** One sample: of a histogram its count, with its sum and buckets. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  value: number;
  sum?: number;
  readonly buckets: Map<number, number>;
}

export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  /** By their labels. */
  readonly samples: Map<string, Sample>;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const LABEL = '[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)?\\})? (\\S+)$`);
const TYPES = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped']);
const PARTS: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

/**
 * Reads Prometheus's text format 0.0.4 as strictly as it is written down (prometheus.io/docs/instrumenting/exposition_formats): the
 * parsers on npm pass over labels of histograms and over what is malformed.
 *
 * @throws Error naming the line that breaks a rule
 */
export function parseExposition(text: string): Map<string, Family> {
  const families = new Map<string, Family>();
  let present: { name: string; help: string; type?: string } | null = null;
  let family: Family | null = null;
  const fail = (line: string, why: string): never => {
    throw new Error(`${why}: ${JSON.stringify(line)}`);
  };
  if (!text.endsWith('\n')) fail(text.slice(-80), 'the last line has no end');
  for (const line of text.split('\n')) {
    if (line === '') continue;
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (families.has(name)) fail(line, 'the lines of a metric are not together');
      present = { name, help: rest };
      family = null;
    } else if (keyword === 'TYPE') {
      if (present?.name !== name || family || !TYPES.has(rest)) fail(line, 'a type that is out of place');
      family = { name, help: present!.help, type: rest, samples: new Map() };
      families.set(name, family);
    } else if (!line.startsWith('#')) take(line, family ?? fail(line, 'a sample without a type'), fail);
  }
  for (const one of families.values()) if (one.type === 'histogram') checkHistogram(one, fail);
  return families;
}

function take(line: string, family: Family, fail: (line: string, why: string) => never): void {
  const [, name = '', given = '', number = ''] = SAMPLE.exec(line) ?? fail(line, 'no sample');
  const part = (PARTS[family.type] ?? ['']).find((end) => name === `${family.name}${end}`);
  if (part === undefined) return fail(line, `a sample of another metric than ${family.name}`);
  const value = number === '+Inf' ? Number.POSITIVE_INFINITY : Number(number);
  // Prometheus reads numbers as Go does, whatever the case.
  if (Number.isNaN(value) && !/^nan$/i.test(number)) return fail(line, 'no number');
  if (family.type === 'counter' && !(value >= 0)) return fail(line, 'a counter below 0');
  const pairs = [...given.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)].map(
    ([, label = '', text = '']) => [label, JSON.parse(`"${text}"`)] as const,
  );
  if (new Set(pairs.map(([label]) => label)).size < pairs.length) return fail(line, 'a label twice');
  const { le, ...labels } = Object.fromEntries(pairs) as Record<string, string>;
  const key = JSON.stringify(Object.entries(labels).sort());
  const known = family.samples.get(key);
  if (known && (part === '' || (part === '_count' && !Number.isNaN(known.value))))
    return fail(line, 'the same sample twice');
  const sample = known ?? { labels, value: Number.NaN, buckets: new Map<number, number>() };
  family.samples.set(key, sample);
  if (part === '_sum') sample.sum = value;
  else if (part === '_bucket')
    sample.buckets.set(le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), value);
  else sample.value = value;
}

function checkHistogram({ name, samples }: Family, fail: (line: string, why: string) => never): void {
  for (const { buckets, value, sum } of samples.values()) {
    let before = 0;
    for (const [, count] of [...buckets].sort(([a], [b]) => a - b)) {
      if (count < before) fail(name, 'buckets that do not add up');
      before = count;
    }
    if (buckets.get(Number.POSITIVE_INFINITY) !== value || sum === undefined)
      fail(name, 'a histogram without its sum, or whose count is not that of its last bucket');
  }
}
