import { expect } from 'chai';
import { isTicket, type ShownTicket, Tickets } from '../../server/auth/tickets.js';
import type { Person } from '../../server/auth/types.js';
import { alone } from '../support/alone.js';
import { codeOf, refusalOf } from '../support/refused.js';
import { personOf } from '../support/users.js';
import { holdWallClock } from '../support/wall-clock.js';

const HOUR = 3_600_000;

function person(id = 'ada', expiresAt?: number): Person {
  const base = personOf(id, { scope: id, key: id });
  return expiresAt === undefined ? base : { ...base, expiresAt };
}

describe('Tickets', () => {
  let pass: (ms: number) => void;
  let tickets: Tickets;
  const issue = async (who = person()) => (await tickets.issue(who)).ticket;
  const open = (ticket: string) => tickets.redeem(ticket, { resuming: false });
  const resume = (ticket: string) => tickets.redeem(ticket, { resuming: true });
  const admit = async (ticket: string, sessions: string[]) => (await resume(ticket)).admit(sessions);

  beforeEach(() => {
    pass = holdWallClock();
    tickets = new Tickets({
      ...alone(),
      authenticator: { carry: (who) => ({ person: who }), receive: (carried) => carried.person },
      report: (error) => {
        throw error;
      },
    });
  });

  it('are opaque, of 256 bits, and different', async () => {
    const texts = await Promise.all(Array.from({ length: 10 }, () => issue()));
    expect(new Set(texts).size).to.equal(10);
    for (const text of texts) expect(isTicket(text)).to.equal(true);
    for (const text of ['tkt_', 'tkt_short', `x${texts[0]}`, `${texts[0]}x`, ''])
      expect(isTicket(text)).to.equal(false);
  });

  it('give the identity back at opening', async () => {
    const who = person();
    expect((await open(await issue(who))).person).to.deep.equal(who);
  });

  it('serve one stream at a time: a resumption ends the one before', async () => {
    const ticket = await issue();
    const ended: string[] = [];
    const serve = async (shown: ShownTicket, name: string) => {
      await shown.admit(['main']);
      shown.serve({ supersede: () => ended.push(name) });
    };
    await serve(await open(ticket), 'first');
    expect(ended).to.deep.equal([]);
    await serve(await resume(ticket), 'second');
    expect(ended).to.deep.equal(['first']);
    await serve(await resume(ticket), 'third');
    expect(ended).to.deep.equal(['first', 'second']);
  });

  it('resume what their stream followed, also later, and nothing else', async () => {
    const ticket = await issue();
    const first = await open(ticket);
    await first.admit(['main', 'notes']);
    await first.serve({ supersede: () => {} })('later');
    await admit(ticket, ['main']);
    await admit(ticket, ['main', 'notes', 'later']);
    expect(await codeOf(() => admit(ticket, ['main', 'other']))).to.equal('UNAUTHENTICATED');
  });

  it('are worthless once their holder is withdrawn', async () => {
    const ada = await issue(person('ada'));
    const bob = await issue(person('bob'));
    await open(ada);
    tickets.withdraw(({ key }) => key === 'ada');
    expect(await codeOf(() => resume(ada))).to.equal('UNAUTHENTICATED');
    expect((await open(bob)).person.key).to.equal('bob');
  });

  it('can be opened up to 30 s after their issue', async () => {
    const [first, second] = [await issue(), await issue()];
    pass(29_999);
    await open(first);
    pass(1);
    expect(await codeOf(() => open(second))).to.equal('UNAUTHENTICATED');
    expect(await codeOf(() => resume(second))).to.equal('UNAUTHENTICATED');
  });

  it('are opened once, then only resumed', async () => {
    const ticket = await issue();
    await open(ticket);
    expect(await codeOf(() => open(ticket))).to.equal('UNAUTHENTICATED');
    pass(600_000);
    await resume(ticket);
    expect(await codeOf(() => open(ticket))).to.equal('UNAUTHENTICATED');
    await resume(ticket);
  });

  it('may be opened by a request that resumes another stream', async () => {
    const ticket = await issue();
    await resume(ticket);
    expect(await codeOf(() => open(ticket))).to.equal('UNAUTHENTICATED');
  });

  it('serve for an hour at most', async () => {
    const { ticket, expiresAt } = await tickets.issue(person());
    expect(expiresAt).to.equal(Date.now() + HOUR);
    await open(ticket);
    pass(HOUR - 1);
    await resume(ticket);
    pass(1);
    expect(await codeOf(() => resume(ticket))).to.equal('UNAUTHENTICATED');
  });

  it('do not outlive the token of their holder', async () => {
    const until = Date.now() + 10_000;
    const { ticket, expiresAt } = await tickets.issue(person('ada', until));
    expect(expiresAt).to.equal(until);
    await open(ticket);
    pass(10_000);
    expect(await codeOf(() => resume(ticket))).to.equal('UNAUTHENTICATED');
  });

  it('are refused without telling them', async () => {
    const unknown = `tkt_${'A'.repeat(43)}`;
    const error = await refusalOf(() => open(unknown));
    expect(JSON.stringify(error) + String(error.cause)).not.to.contain(unknown);
  });

  it('are bounded by user: the one unused for longest goes', async () => {
    const issued: string[] = [];
    for (let index = 0; index < 16; index++) issued.push(await issue());
    const [first = '', second = ''] = issued;
    await open(first);
    const stranger = await issue(person('bob'));
    await issue();
    await resume(first);
    await open(stranger);
    expect(await codeOf(() => open(second))).to.equal('UNAUTHENTICATED');
    expect(tickets.size).to.equal(17);
  });

  it('of all who bear one link are not those of one user: many may follow at once', async () => {
    const key = 'a link';
    const bearer = { ...person('guest'), key, pays: { key, kind: 'link' as const } };
    const first = await issue(bearer);
    for (let index = 1; index < 100; index++) await issue(bearer);
    await open(first);
    expect(tickets.size).to.equal(100);
  });

  it('are bounded in all', async () => {
    const first = await issue(person('first'));
    for (let index = 0; index < 10_000; index++) await issue(person(`user-${index}`));
    expect(tickets.size).to.equal(10_000);
    expect(await codeOf(() => open(first))).to.equal('UNAUTHENTICATED');
  });

  it('are swept when others are issued', async () => {
    for (let index = 0; index < 100; index++) await issue(person(`user-${index}`));
    pass(30_000);
    await issue();
    expect(tickets.size).to.equal(1);
  });
});
