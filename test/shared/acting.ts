import fc from 'fast-check';
import type { GatewayEvent } from '../../shared/events.js';
import { initialState, reduce } from '../../shared/fold.js';

/** Who runs a tool: the app, its caller, who brought it or for whom it is there, or the app once a person has allowed it. */
type Runs = 'own' | 'brought' | 'others' | 'confirmed';

/** What an app does next. */
export type Act =
  | { readonly say: 'content_delta' | 'reasoning_delta'; readonly deltas: readonly string[] }
  | { readonly call: Runs; readonly fails: boolean; readonly parallel: number }
  | { readonly data: number };

/** What an app does in a run. */
export const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.oneof(
    fc.record({
      say: fc.constantFrom('content_delta' as const, 'reasoning_delta' as const),
      deltas: fc.array(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      call: fc.constantFrom<Runs>('own', 'brought', 'others', 'confirmed'),
      fails: fc.boolean(),
      parallel: fc.integer({ min: 1, max: 3 }),
    }),
    fc.record({ data: fc.nat(2) }),
  ),
  { maxLength: 8 },
);

/** How a run ends. */
export const ends = fc.constantFrom('end', 'max_tokens', 'aborted', 'error', 'lost', 'timeout');

/** A run as its session logs it. */
export interface ActedRun {
  readonly events: readonly GatewayEvent[];
  /** Numbers of events after which all was said that was stored together. */
  readonly heads: ReadonlySet<number>;
}

/**
 * The events of a run `r` that does this.
 *
 * @param options `denies`: what fails of what a person is asked for was denied. @default true
 */
export function runOf(doing: readonly Act[], stopReason: string, { denies = true } = {}): ActedRun {
  const events: GatewayEvent[] = [];
  const heads = new Set<number>();
  let index = 0;
  let open = '';
  const log = (type: string, rest: object): void => {
    const cursor = `AAAAAAAAAAA.1.${events.length + 1}`;
    const event = { type, sessionId: 'main', runId: 'r', ts: events.length * 700, cursor, ...rest };
    events.push(event as unknown as GatewayEvent);
  };
  const head = () => heads.add(events.length);
  const tools = [{ type: 'function', name: 'brought', description: null, parameters: null, strict: null }];
  const metadata = { response: { model: 'm', tools } };
  const message = { id: 'u', role: 'user', content: [{ type: 'text', text: 'x' }], createdAt: 0, metadata };
  log('message_accepted', { message, onBusy: 'queue', position: 0 });
  head();
  log('message_start', { messageId: 'm', app: 'a' });
  const named = new Set<number>();
  for (const [at, act] of doing.entries()) {
    head();
    if ('say' in act) {
      if (open !== act.say && open !== '') index += 1;
      open = act.say;
      for (const delta of act.deltas) {
        log(act.say, { delta, index });
        head();
      }
      continue;
    }
    if (open !== '') index += 1;
    open = '';
    if ('data' in act) {
      if (!named.has(act.data)) index += 1;
      named.add(act.data);
      log('data', { id: `d${act.data}`, name: 'n', value: at });
      continue;
    }
    const calls = Array.from({ length: act.parallel }, (_, n) => `${at}~${n}`);
    const name = act.call === 'brought' ? 'brought' : 'tool';
    const call = (callId: string) => ({ callId, name });
    const isClients = act.call === 'brought' || act.call === 'others';
    for (const id of calls)
      log('tool_use', { ...call(id), input: { at }, ...(isClients && { runsOn: 'client' }) });
    const batch = calls[0];
    for (const id of calls) {
      if (isClients) log('input_required', { ...call(id), payload: { at }, batch });
      if (act.call === 'confirmed') log('tool_confirmation_required', { ...call(id), input: { at }, batch });
    }
    head();
    const denied = denies && act.call === 'confirmed' && act.fails;
    for (const id of calls) {
      if (isClients) log('input_result', { ...call(id), output: at, by: 'u' });
      if (act.call === 'confirmed')
        log('tool_confirmation_result', { ...call(id), approved: !denied, by: 'u' });
    }
    for (const id of calls)
      log('tool_result', { ...call(id), output: act.fails ? 'no' : at, isError: act.fails });
    index += 2 * act.parallel;
  }
  if (stopReason === 'error') log('run_error', { code: 'INTERNAL', message: 'broke' });
  const before = events.reduce(reduce, initialState);
  log('message_end', { stopReason, message: before.run!.message, usage: { inputTokens: 1 } });
  return { events, heads };
}
