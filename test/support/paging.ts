import { expect } from 'chai';
import type { SessionHandle } from '../../server/index.js';
import type { Message } from '../../shared/messages.js';
import { insist } from './insist.js';

/** All messages of a session, read in pages from the last one back. */
export async function readPages(session: SessionHandle, limit: number): Promise<readonly Message[]> {
  const all: Message[] = [];
  for (let before: string | undefined; ; ) {
    const place = before === undefined ? {} : { before };
    const page = await insist(() => session.history({ limit, ...place }));
    expect(page.messages.length).to.be.at.most(limit);
    expect(page.hasMore).to.equal(page.cursor !== null);
    all.unshift(...page.messages);
    if (page.cursor === null) return all;
    before = page.cursor;
  }
}
