import { expect } from 'chai';
import fc from 'fast-check';
import { initialState, reduce } from '../../shared/fold.js';
import {
  clientCallId,
  itemId,
  parseClientCallId,
  parseItemId,
  parseResponseId,
  responseId,
} from '../../shared/responses/ids.js';
import { ResponseStream } from '../../shared/responses/stream.js';
import type { ResponseEventFrame } from '../../shared/responses/types.js';
import { FUZZ } from '../support/fuzz.js';
import { type Act, type ActedRun, acts, ends, runOf } from './acting.js';

const streamOf = (index: number) => new ResponseStream({ sessionId: 'main', runId: 'r', index }, {});

/** The frames of a response for a reader who comes when so many events are there. */
function readAt(index: number, { events, heads }: ActedRun, from: number): ResponseEventFrame[] {
  const stream = streamOf(index);
  const frames: ResponseEventFrame[] = [];
  for (const [at, event] of events.entries()) {
    frames.push(...stream.take(event));
    // Who comes late finds events together that others have waited between.
    if (at + 1 >= from && heads.has(at + 1)) frames.push(...stream.head());
  }
  return frames;
}

const LAST = /^response\.(?:completed|incomplete|failed)$/;

describe('a run as responses', () => {
  it('has the same frames for every reader, numbered from 0, each response with one end and all that it began', () => {
    fc.assert(
      fc.property(acts, ends, fc.nat(60), (doing, end, from) => {
        const run = runOf(doing, end);
        for (let index = 0; ; index++) {
          const frames = readAt(index, run, 0);
          expect(readAt(index, run, from)).to.deep.equal(frames);
          if (frames.length === 0) break;
          expect(frames.map(({ sequence_number }) => sequence_number)).to.deep.equal([...frames.keys()]);
          expect(frames[0]!.type).to.equal('response.created');
          expect(frames.filter(({ type }) => LAST.test(type))).to.deep.equal([frames.at(-1)]);
          const items = (type: string) =>
            frames.filter((frame) => frame.type === `response.output_item.${type}`) as any[];
          const { output, id, previous_response_id } = frames.at(-1)!.response as any;
          expect(output).to.deep.equal(items('done').map(({ item }) => item));
          expect(items('added').map(({ item }) => item.id)).to.deep.equal(output.map((item: any) => item.id));
          expect(items('added').map(({ output_index }) => output_index)).to.deep.equal([...output.keys()]);
          expect(id).to.equal(responseId({ sessionId: 'main', runId: 'r', index }));
          expect(previous_response_id).to.equal(
            index === 0 ? null : responseId({ sessionId: 'main', runId: 'r', index: index - 1 }),
          );
        }
      }),
      { numRuns: 200 * Math.max(1, FUZZ) },
    );
  });

  it('says all that was said, and pauses where its caller has to act, and nowhere else', () => {
    fc.assert(
      fc.property(acts, (doing) => {
        const run = runOf(doing, 'end');
        const responses: any[] = [];
        for (let index = 0; ; index++) {
          const last = readAt(index, run, 0).at(-1);
          if (!last) break;
          responses.push(last.response);
        }
        const asks = doing.filter(
          (act) => 'call' in act && (act.call === 'brought' || act.call === 'confirmed'),
        );
        expect(responses).to.have.length(asks.length + 1);
        const items = responses.flatMap(({ output }) => output);
        const text = items.map(({ type, content }) => (type === 'message' ? content[0].text : '')).join('');
        const said = doing.map((act) =>
          'say' in act && act.say === 'content_delta' ? act.deltas.join('') : '',
        );
        expect(text).to.equal(said.join(''));
        for (const [at, { output }] of responses.slice(0, -1).entries()) {
          const { parallel, call } = asks[at] as Extract<Act, { call: string }>;
          const kind = call === 'brought' ? 'function_call' : 'mcp_approval_request';
          expect(output.slice(-parallel).map(({ type }: any) => type)).to.deep.equal(
            Array(parallel).fill(kind),
          );
        }
      }),
      { numRuns: 200 * Math.max(1, FUZZ) },
    );
  });

  it('is told from its history as it was, where nobody was asked', () => {
    fc.assert(
      fc.property(acts, ends, (doing, end) => {
        fc.pre(
          doing.length > 0 &&
            doing.every((act) => !('call' in act) || act.call === 'own' || act.call === 'others'),
        );
        const run = runOf(doing, end);
        const { messages } = run.events.reduce(reduce, initialState);
        const recalled = streamOf(0);
        recalled.recall(messages[1]!, messages[0]);
        const told = readAt(0, run, 0).at(-1)!.response as any;
        const { completed_at: _, ...rest } = recalled.response as any;
        expect(told).to.deep.include(rest);
      }),
      { numRuns: 100 * Math.max(1, FUZZ) },
    );
  });
});

describe('ids of responses', () => {
  it('are read as they were written, whatever the id of a call is', () => {
    const name = { sessionId: 'app:main', runId: 'r_1', index: 2 };
    expect(parseResponseId(responseId(name))).to.deep.equal(name);
    expect(parseResponseId('resp_0123')).to.equal(null);
    for (const sessionId of ['app:main', '~a-grant', 'app:~a-grant'])
      for (const part of ['a~b\nc', '~', '!t', '\ud83d', 'call_1']) {
        const run = { sessionId, runId: 'r_1' };
        expect(parseItemId(itemId('mcpr', run, part))).to.deep.equal({ kind: 'mcpr', ...run, part });
        expect(parseClientCallId(clientCallId(part, run))).to.deep.equal({ callId: part, run });
      }
    expect(parseItemId('msg_0123')).to.equal(null);
    for (const callId of ['call_1', 'a~b', 'a~b~c~d', '!~b~c', 'a~~c'])
      expect(parseClientCallId(callId)).to.deep.equal({ callId, run: null });
  });
});
