import { expect } from 'chai';
import { isEventStream } from '../../shared/media-type.js';

describe('the type of an event stream', () => {
  it('is read by its grammar: in any case, with parameters, and not as the beginning of another', () => {
    for (const type of [
      'text/event-stream',
      'Text/Event-Stream',
      'text/event-stream; charset=utf-8',
      ' TEXT/EVENT-STREAM ;a=b',
    ])
      expect(isEventStream(type), type).to.equal(true);
    for (const type of [
      null,
      '',
      'text/event-streams',
      'text/event-stream2;a',
      'application/json; x=text/event-stream',
    ])
      expect(isEventStream(type), `${type}`).to.equal(false);
  });
});
