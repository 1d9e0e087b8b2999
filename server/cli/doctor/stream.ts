import { EVENTS_PATH } from '../../../shared/calls.js';
import { isEventStream } from '../../../shared/media-type.js';
import { type Finding, ok, problem } from './finding.js';
import { open, silenceOf } from './probe.js';
import type { GatewayPlace } from './reach.js';

const UNBUFFERED =
  'Switch buffering off for event streams (nginx: proxy_buffering off), let X-Accel-Buffering: no and Cache-Control: no-transform through, and do not compress them.';

/** The end of an event's name: bytes before it may be comments and times to come back after. */
const EVENT = /^event:.*\n/m;

/** Checks that events arrive without delay. The gateway writes the first one at once, unless it turns its readers away. */
export async function examineStream(
  { mount, patienceMs }: GatewayPlace,
  token: string | undefined,
): Promise<Finding[]> {
  const about = 'events';
  const headers = { accept: 'text/event-stream' };
  const stop = new AbortController();
  const began = performance.now();
  let response: Response | undefined;
  const late = setTimeout(() => stop.abort(), patienceMs);
  try {
    response = await open({ url: `${mount}${EVENTS_PATH}`, token, headers }, stop.signal);
    const type = response.headers.get('content-type') ?? 'nothing';
    if (!response.ok || !isEventStream(type))
      return [
        problem(
          about,
          `GET ${EVENTS_PATH} answers ${response.status} with ${type}, not a stream of events`,
          'See whether something in front answers for the gateway, or changes the Accept header.',
        ),
      ];
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (EVENT.test(text) && /\n\n/.test(text.slice(text.search(EVENT))))
        return [ok(about, `the first event arrived after ${Math.round(performance.now() - began)} ms`)];
    }
    return [
      /^retry:/m.test(text) && !EVENT.test(text)
        ? problem(
            about,
            'the gateway turns its readers away, and has them come again later',
            'See its readiness: it is being closed, or its store has been away for longer than a lease.',
          )
        : problem(
            about,
            'the stream of events ends before its first event',
            'Look for a time-out of a proxy in between.',
          ),
    ];
  } catch (cause) {
    if (!stop.signal.aborted)
      return [
        problem(
          about,
          `the stream of events broke off: ${silenceOf(cause).text}`,
          'Look at what is in between.',
        ),
      ];
    const where = response === undefined ? 'not even the head of the answer' : 'no event';
    return [
      problem(
        about,
        `other answers come at once, of the stream of events ${where} came in ${patienceMs / 1000} s: something in between buffers it`,
        UNBUFFERED,
      ),
    ];
  } finally {
    clearTimeout(late);
    stop.abort();
  }
}
