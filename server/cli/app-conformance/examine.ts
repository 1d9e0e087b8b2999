import { randomUUID } from 'node:crypto';
import { signatureOf } from '../../runtime/signature.js';
import { type AppCase, type CaseFields, type CaseSlice, readCases } from './cases.js';

/** The app's side to examine. */
export interface ExaminedApp {
  readonly url: string;
  readonly secret: string;
  /** Longest time of one slice, in milliseconds. */
  readonly patienceMs: number;
}

/** Runs the cases against the app `conformance` of a server, one by one. */
export async function* examineApp(
  app: ExaminedApp,
): AsyncGenerator<{ readonly name: string; readonly fault: string | undefined }, void> {
  for (const { name, slices } of await readCases()) yield { name, fault: await faultOf(app, slices) };
}

async function faultOf(app: ExaminedApp, slices: AppCase['slices']): Promise<string | undefined> {
  for (const [at, slice] of slices.entries()) {
    const fault = await faultOfSlice(app, slice).catch((error: Error) => error.message);
    if (fault !== null) return slices.length > 1 ? `slice ${at + 1}: ${fault}` : fault;
  }
  return undefined;
}

async function faultOfSlice(app: ExaminedApp, slice: CaseSlice): Promise<string | null> {
  const response = await send(app, slice);
  const { status = 200 } = slice;
  if (response.status !== status) return `status must be ${status}, and is ${response.status}`;
  const text = await response.text();
  if (status !== 200) {
    const { error } = JSON.parse(text) as { readonly error?: CaseFields };
    const isCoded = typeof error?.code === 'string' && typeof error.message === 'string';
    return isCoded ? null : `the body must be { error: { code, message } }, and is ${text}`;
  }
  const type = response.headers.get('content-type') ?? '';
  if (!/^application\/x-ndjson\s*(;|$)/i.test(type))
    return `content-type must be application/x-ndjson, and is ${type}`;
  if (!text.endsWith('\n')) return 'the last line must end with a line break';
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as CaseFields);
  return faultOfLines(lines, slice);
}

function send({ url, secret, patienceMs }: ExaminedApp, { given, sent }: CaseSlice): Promise<Response> {
  const id = `slice_${randomUUID()}`;
  const body = sent === 'no json' ? '{"protocol":1,' : JSON.stringify(bodyOf(id, given));
  const timestamp = Math.floor(Date.now() / 1000) - (sent === 'old' ? 3600 : 0);
  const signed = sent === 'signature' ? `${body} ` : body;
  const headers: Record<string, string> = {
    ...{ 'content-type': 'application/json', accept: 'application/x-ndjson' },
    ...{ 'webhook-id': id, 'webhook-timestamp': `${timestamp}` },
    'webhook-signature': signatureOf({ id, timestamp, body: signed }, secret),
  };
  if (sent === 'unsigned') delete headers['webhook-signature'];
  return fetch(url, {
    method: 'POST',
    headers,
    body,
    signal: AbortSignal.timeout(patienceMs),
    redirect: 'manual',
  });
}

function bodyOf(id: string, { program, ...given }: CaseSlice['given']): object {
  const content = [{ type: 'text', text: JSON.stringify(program) }];
  return {
    ...{
      protocol: 1,
      id,
      app: 'conformance',
      runId: 'run_1',
      attempt: 1,
      now: Date.now(),
      deadlineMs: 30_000,
    },
    session: { id: 'conformance:main', app: 'conformance', epoch: 'e1' },
    ...{ user: { id: 'ann' }, message: { id: 'm1', role: 'user', content }, history: [], earlier: 0 },
    ...{ metadata: {}, parameters: {}, trigger: null, tools: [], steps: [], calls: [] },
    said: { text: 0, reasoning: 0 },
    ...given,
  };
}

const isSaid = ({ type }: CaseFields): boolean => type === 'text' || type === 'reasoning';

function faultOfLines(all: readonly CaseFields[], slice: CaseSlice): string | null {
  const last = all.at(-1);
  const others = all.slice(0, -1).filter((line) => !isSaid(line));
  const { lines, some = [], none = [], order } = slice;
  const fits = (line: CaseFields | undefined, wanted: CaseFields): boolean => isWithin(wanted, line);
  if (slice.last && !fits(last, slice.last)) return unlike('the last line', slice.last, last);
  if (lines && !(lines.length === others.length && lines.every((line, at) => fits(others[at], line))))
    return unlike('the lines', lines, others);
  for (const line of some)
    if (!others.some((other) => fits(other, line))) return unlike('one of the lines', line, others);
  for (const line of none)
    if (others.some((other) => fits(other, line))) return `no line may be like ${JSON.stringify(line)}`;
  const types = all
    .map(({ type }) => type)
    .filter((type, at, list) => type !== 'text' || list[at - 1] !== 'text');
  if (order && !isWithin(order, types)) return unlike('the order', order, types);
  const { said } = slice.given as { readonly said?: { readonly text: number; readonly reasoning: number } };
  for (const kind of ['text', 'reasoning'] as const) {
    const wanted = slice[kind] as string | undefined;
    if (wanted === undefined) continue;
    const now = saidBy(all, kind, said?.[kind] ?? 0);
    if (typeof now === 'number')
      return `${kind} must begin at ${said?.[kind] ?? 0} at most, and begins at ${now}`;
    const expected = [...wanted].slice(now.from).join('');
    if (now.text !== expected) return unlike(`the ${kind} from ${now.from} on`, expected, now.text);
  }
  return null;
}

/** The text of one kind that lines say, and its place; the place alone, if it is beyond what was said. */
function saidBy(
  lines: readonly CaseFields[],
  kind: 'text' | 'reasoning',
  before: number,
): { readonly from: number; readonly text: string } | number {
  const pieces = lines.filter(({ type }) => type === kind);
  const from = Number(pieces[0]?.at ?? (pieces.length === 0 ? before : 0));
  if (from > before) return from;
  return { from, text: pieces.map(({ delta }) => String(delta)).join('') };
}

/** Whether a value has all that is wanted: objects may have more fields. */
function isWithin(wanted: unknown, value: unknown): boolean {
  if (Array.isArray(wanted))
    return (
      Array.isArray(value) &&
      value.length === wanted.length &&
      wanted.every((each, at) => isWithin(each, value[at]))
    );
  if (typeof wanted !== 'object' || wanted === null) return wanted === value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(wanted).every(([key, each]) => isWithin(each, (value as CaseFields)[key]));
}

const SHOWN = 500;
const unlike = (what: string, wanted: unknown, got: unknown): string =>
  `${what} must be ${brief(wanted)}, and ${Array.isArray(got) ? 'are' : 'is'} ${brief(got)}`;

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > SHOWN ? `${JSON.stringify(text.length)} characters` : text;
}
