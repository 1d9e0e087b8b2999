import { expect } from 'chai';
import { isTicket, Tickets } from '../../server/auth/tickets.js';
import type { Identity } from '../../server/auth/types.js';
import { codeOf, refusalOf } from './fixtures.js';

const HOUR = 3_600_000;

function identity(id = 'ada', expiresAt?: number): Identity {
  const base = { user: { id }, scope: id, userKey: id };
  return expiresAt === undefined ? base : { ...base, expiresAt };
}

describe('Tickets', () => {
  let time: number;
  let tickets: Tickets;
  const open = (ticket: string) => tickets.redeem(ticket, { resuming: false });
  const resume = (ticket: string) => tickets.redeem(ticket, { resuming: true });

  beforeEach(() => {
    time = 1_700_000_000_000;
    tickets = new Tickets(() => time);
  });

  it('are opaque, of 256 bits, and different', () => {
    const texts = Array.from({ length: 10 }, () => tickets.issue(identity()).ticket);
    expect(new Set(texts).size).to.equal(10);
    for (const text of texts) expect(isTicket(text)).to.equal(true);
    for (const text of ['tkt_', 'tkt_short', `x${texts[0]}`, `${texts[0]}x`, ''])
      expect(isTicket(text)).to.equal(false);
  });

  it('give the identity back at opening', () => {
    const who = identity();
    expect(open(tickets.issue(who).ticket).identity).to.equal(who);
  });

  it('serve one stream at a time: a resumption ends the one before', () => {
    const { ticket } = tickets.issue(identity());
    const ended: string[] = [];
    const serve = (shown: ReturnType<typeof open>, name: string) => {
      shown.admit(['main']);
      shown.serve({ supersede: () => ended.push(name) });
    };
    serve(open(ticket), 'first');
    expect(ended).to.deep.equal([]);
    serve(resume(ticket), 'second');
    expect(ended).to.deep.equal(['first']);
    serve(resume(ticket), 'third');
    expect(ended).to.deep.equal(['first', 'second']);
  });

  it('resume what their stream followed, also later, and nothing else', async () => {
    const { ticket } = tickets.issue(identity());
    const first = open(ticket);
    first.admit(['main', 'notes']);
    const followed = first.serve({ supersede: () => {} });
    followed('later');
    resume(ticket).admit(['main']);
    resume(ticket).admit(['main', 'notes', 'later']);
    expect(await codeOf(() => resume(ticket).admit(['main', 'other']))).to.equal('UNAUTHENTICATED');
  });

  it('are worthless once their holder is withdrawn', async () => {
    const ada = tickets.issue(identity('ada')).ticket;
    const bob = tickets.issue(identity('bob')).ticket;
    open(ada);
    tickets.withdraw(({ userKey }) => userKey === 'ada');
    expect(await codeOf(() => resume(ada))).to.equal('UNAUTHENTICATED');
    expect(open(bob).identity.userKey).to.equal('bob');
  });

  it('can be opened up to 30 s after their issue', async () => {
    const [first, second] = [tickets.issue(identity()), tickets.issue(identity())];
    time += 29_999;
    open(first.ticket);
    time += 1;
    expect(await codeOf(() => open(second.ticket))).to.equal('UNAUTHENTICATED');
    expect(await codeOf(() => resume(second.ticket))).to.equal('UNAUTHENTICATED');
  });

  it('are opened once, then only resumed', async () => {
    const { ticket } = tickets.issue(identity());
    open(ticket);
    expect(await codeOf(() => open(ticket))).to.equal('UNAUTHENTICATED');
    time += 600_000;
    resume(ticket);
    expect(await codeOf(() => open(ticket))).to.equal('UNAUTHENTICATED');
    resume(ticket);
  });

  it('may be opened by a request that resumes another stream', async () => {
    const { ticket } = tickets.issue(identity());
    resume(ticket);
    expect(await codeOf(() => open(ticket))).to.equal('UNAUTHENTICATED');
  });

  it('serve for an hour at most', async () => {
    const { ticket, expiresAt } = tickets.issue(identity());
    expect(expiresAt).to.equal(time + HOUR);
    open(ticket);
    time += HOUR - 1;
    resume(ticket);
    time += 1;
    expect(await codeOf(() => resume(ticket))).to.equal('UNAUTHENTICATED');
  });

  it('do not outlive the token of their holder', async () => {
    const { ticket, expiresAt } = tickets.issue(identity('ada', time + 10_000));
    expect(expiresAt).to.equal(time + 10_000);
    open(ticket);
    time += 10_000;
    expect(await codeOf(() => resume(ticket))).to.equal('UNAUTHENTICATED');
  });

  it('are refused without telling them', async () => {
    const unknown = `tkt_${'A'.repeat(43)}`;
    const error = await refusalOf(() => open(unknown));
    expect(JSON.stringify(error) + String(error.cause)).not.to.contain(unknown);
  });

  it('are bounded by user: the one unused for longest goes', async () => {
    const issued = Array.from({ length: 16 }, () => tickets.issue(identity()).ticket);
    const [first = '', second = ''] = issued;
    open(first);
    const stranger = tickets.issue(identity('bob')).ticket;
    tickets.issue(identity());
    resume(first);
    open(stranger);
    expect(await codeOf(() => open(second))).to.equal('UNAUTHENTICATED');
    expect(tickets.size).to.equal(17);
  });

  it('are bounded in all', async () => {
    const first = tickets.issue(identity('first')).ticket;
    for (let index = 0; index < 10_000; index++) tickets.issue(identity(`user-${index}`));
    expect(tickets.size).to.equal(10_000);
    expect(await codeOf(() => open(first))).to.equal('UNAUTHENTICATED');
  });

  it('are swept when others are issued', () => {
    for (let index = 0; index < 100; index++) tickets.issue(identity(`user-${index}`));
    time += 30_000;
    tickets.issue(identity());
    expect(tickets.size).to.equal(1);
  });
});
