/** Ids that a gateway or a model's endpoint generates. */
const MADE = /\b(?:call|run|msg|chatcmpl|toolu|fc|resp)_[\w-]{6,}/g;

/** A value in a form that two runs of the same code share: fields are sorted, and ids are numbered by first occurrence. */
export function canonical(value: unknown): string {
  const known = new Map<string, string>();
  const text = JSON.stringify(sorted(value), null, 2) ?? 'undefined';
  return text.replace(MADE, (id) => {
    if (!known.has(id)) known.set(id, `${id.split('_')[0]}_${known.size + 1}`);
    return known.get(id)!;
  });
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}

const WIDTH = 56;

/** Two texts side by side, only the lines around the first difference. */
export function sideBySide(recorded: string, now: string, around = 3): string {
  const [left, right] = [recorded, now].map((text) => text.split('\n').flatMap(wrapped)) as [
    string[],
    string[],
  ];
  const first = left.findIndex((line, at) => line !== right[at]);
  const at = first < 0 ? left.length : first;
  const rows = Array.from({ length: 2 * around + 1 }, (_, row) => at - around + row);
  const cell = (line = ''): string => line.padEnd(WIDTH);
  return [
    `  ${cell('recorded')} | now`,
    ...rows
      .filter((row) => row >= 0 && row < Math.max(left.length, right.length))
      .map((row) => `${left[row] === right[row] ? ' ' : '>'} ${cell(left[row])} | ${right[row] ?? ''}`),
  ].join('\n');
}

const wrapped = (line: string): string[] => line.match(new RegExp(`.{1,${WIDTH}}`, 'gu')) ?? [''];
