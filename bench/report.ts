import type { Key } from './keys.js';
import type { Sample } from './measure/sample.js';
import { median } from './rig/statistics.js';

/** Where the generator is busier than this, it may be what was measured. */
const BUSY_LOAD = 0.85;

export interface Row {
  readonly label: string;
  /** A sample for each round, or nothing where it failed. */
  readonly samples: readonly (Sample | undefined)[];
  readonly failure?: string;
}

export interface Summary {
  readonly label: string;
  readonly failure?: string;
  readonly value?: number;
  readonly range?: readonly [number, number];
  /** To the first row, in the same round each, as medians. */
  readonly ratio?: number;
  readonly cpu?: number;
  readonly cpuRatio?: number;
  readonly cpuRatioRange?: readonly [number, number];
  readonly lost: number;
  readonly notes: readonly string[];
}

export function summarize(rows: readonly Row[]): Summary[] {
  const [base] = rows;
  return rows.map(({ label, samples, failure }) => {
    const those = samples.filter((sample) => sample !== undefined);
    const lost = those.reduce((sum, sample) => sum + (sample.lost ?? 0), 0);
    if (those.length === 0) return { label, lost, notes: [], failure: failure ?? 'nothing was measured' };
    const values = those.map(({ value }) => value);
    const cpus = numbers(those.map(({ cpu }) => cpu));
    const ratios = (of: (sample: Sample) => number | undefined) =>
      numbers(samples.map((sample, round) => ratioOf(sample && of(sample), base?.samples[round], of)));
    const ratio = ratios(({ value }) => value);
    const cpuRatio = ratios(({ cpu }) => cpu);
    return {
      label,
      lost,
      value: median(values),
      range: rangeOf(values),
      ...(ratio.length > 0 && { ratio: median(ratio) }),
      ...(cpus.length > 0 && { cpu: median(cpus) }),
      ...(cpuRatio.length > 0 && { cpuRatio: median(cpuRatio), cpuRatioRange: rangeOf(cpuRatio) }),
      notes: notesOf(those, failure),
    };
  });
}

const numbers = (values: readonly (number | undefined)[]): number[] =>
  values.filter((value) => value !== undefined && Number.isFinite(value)) as number[];

function ratioOf(
  value: number | undefined,
  base: Sample | undefined,
  of: (sample: Sample) => number | undefined,
): number | undefined {
  const other = base && of(base);
  return value === undefined || !other ? undefined : value / other;
}

const rangeOf = (values: readonly number[]): [number, number] => [Math.min(...values), Math.max(...values)];

function notesOf(samples: readonly Sample[], failure: string | undefined): string[] {
  const notes: string[] = [];
  const bytes = numbers(samples.map((sample) => sample.bytes));
  if (bytes.length > 0) notes.push(`${format(median(bytes))} bytes`);
  for (const name of Object.keys(samples[0]!.more ?? {}))
    notes.push(`${name} ${format(median(numbers(samples.map(({ more }) => more?.[name]))))}`);
  const load = numbers(samples.map((sample) => sample.load));
  if (load.length > 0) {
    const share = median(load);
    notes.push(`load ${Math.round(share * 100)}%${share > BUSY_LOAD ? ' (it may be the limit)' : ''}`);
  }
  if (failure) notes.push(`a round failed: ${failure}`);
  return notes;
}

/** Three digits that matter. */
export function format(value: number): string {
  if (Number.isInteger(value) && value > 1) return value.toLocaleString('en');
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

const between = ([low, high]: readonly [number, number]): string => `${format(low)}–${format(high)}`;

const COLUMNS = ['', 'median', 'range', 'ratio', 'CPU µs', 'CPU ratio', 'CPU ratio, range', ''] as const;

function cells({ label, failure, lost, notes, ...of }: Summary): string[] {
  if (failure) return [label, 'failed', '', '', '', '', '', failure];
  return [
    label,
    format(of.value!),
    between(of.range!),
    of.ratio === undefined ? '' : format(of.ratio),
    of.cpu === undefined ? '' : format(of.cpu),
    of.cpuRatio === undefined ? '' : format(of.cpuRatio),
    of.cpuRatioRange === undefined ? '' : between(of.cpuRatioRange),
    [...(lost > 0 ? [`NOT VALID: ${lost} lost`] : []), ...notes].join(', '),
  ];
}

/** A key's table for a terminal. */
export function asText(name: string, { title, unit }: Key, summaries: readonly Summary[]): string {
  const rows = [COLUMNS.map(String), ...summaries.map(cells)];
  const widths = COLUMNS.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 || column === COLUMNS.length - 1
          ? cell.padEnd(widths[column]!)
          : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  );
  return `\n${name}: ${title} (${unit})\n${lines.join('\n')}`;
}

/** The same for a page; one head is enough for all keys. */
export const MARKDOWN_HEAD =
  '| what | peer | median (range) | ratio | CPU µs | CPU ratio (range) | besides |\n|---|---|---|---|---|---|---|';

export function asMarkdown(name: string, { title, unit }: Key, summaries: readonly Summary[]): string {
  return summaries
    .map((summary, n) => {
      const [label, value, range, ratio, cpu, cpuRatio, cpuRange, notes] = cells(summary);
      const what = n === 0 ? `\`${name}\`: ${title}, ${unit}` : '';
      const many = range ? `${value} (${range})` : value;
      return `| ${what} | ${label} | ${many} | ${ratio} | ${cpu} | ${cpuRange ? `${cpuRatio} (${cpuRange})` : cpuRatio} | ${notes} |`;
    })
    .join('\n');
}
