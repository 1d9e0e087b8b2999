import { expect } from 'chai';
import { byDay } from '../../templates/components/sessions/days.js';

const at = (text: string): number => new Date(text).getTime();
const now = at('2026-11-24T10:00:00');

describe('the sessions of the playground by day', () => {
  it('are today, yesterday, this week, and by month before that, in their order', () => {
    const times = [
      '2026-11-24T00:00:00',
      '2026-11-23T23:59:59',
      '2026-11-18T12:00:00',
      '2026-11-17T12:00:00',
    ];
    const sessions = [...times, '2025-11-17T12:00:00'].map((time, id) => ({
      ...{ sessionId: String(id), updatedAt: at(time) },
    }));
    const days = byDay(sessions as never, now);
    expect(days.map(({ sessions: of }) => of.map(({ sessionId }) => sessionId).join())).to.deep.equal([
      '0',
      '1',
      '2',
      '3',
      '4',
    ]);
    expect(days.slice(0, 3).map(({ name }) => name)).to.deep.equal(['Today', 'Yesterday', 'This week']);
    expect(new Set(days.map(({ name }) => name)).size, 'months of two years').to.equal(5);
  });

  it('are one section a day', () => {
    const sessions = [1, 2, 3].map((id) => ({ sessionId: String(id), updatedAt: now }));
    expect(byDay(sessions as never, now)).to.have.length(1);
  });
});
