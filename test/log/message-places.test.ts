import { expect } from 'chai';
import fc from 'fast-check';
import { leadsThrough, placed } from '../../server/log/message-places.js';
import { withVersions } from '../../server/log/versions.js';
import type { MessageRow } from '../../server/stores/stored.js';
import type { Message } from '../../shared/messages.js';

/** The message that each message follows, by number: 0 is before the first. */
const parents = fc.array(fc.nat(1000), { minLength: 1, maxLength: 40, size: 'max' });

/** Messages in the order in which they were said, each with the versions that there were by then. */
function tree(choices: readonly number[]): readonly Message[] {
  const messages: Message[] = [];
  for (const [i, choice] of choices.entries()) {
    const at = choice % (i + 1);
    const parentId = at === 0 ? null : `m${at}`;
    const before = messages.filter((other) => other.parentId === parentId).map(({ id }) => id);
    const id = `m${i + 1}`;
    const versions = before.length > 0 && { versions: [...before, id] };
    messages.push({ id, parentId, role: 'user', content: [], createdAt: 1, ...versions });
  }
  return messages;
}

describe('the places of messages', () => {
  it('say how long each path is, and what is on it, however many are stored at once', async () => {
    await fc.assert(
      fc.asyncProperty(parents, fc.integer({ min: 1, max: 10 }), async (choices, atOnce) => {
        const rows = new Map<string, MessageRow>();
        const log = {
          storedMessages: (id: string) => (rows.has(id) ? [rows.get(id)!] : []),
          storedPlace: (id: string) => rows.get(id) ?? null,
        };
        const messages = tree(choices);
        for (let i = 0; i < messages.length; i += atOnce) {
          const known = withVersions([...rows.values()], messages.slice(0, i + atOnce)) as MessageRow[];
          for (const row of known) rows.set(row.id, row);
          // In any order: who stores them has those off the path first.
          const some = withVersions(messages.slice(i, i + atOnce))
            .slice()
            .reverse();
          for (const row of await placed(log, some)) rows.set(row.id, row);
        }
        const pathOf = (id: string | null | undefined): string[] =>
          id == null ? [] : [...pathOf(rows.get(id)!.parentId), id];
        for (const { id } of messages) {
          const path = pathOf(id);
          expect(rows.get(id)!.depth).to.equal(path.length);
          for (const other of messages)
            expect(
              await leadsThrough(log, rows.get(id)!, rows.get(other.id)!),
              `${id} through ${other.id}`,
            ).to.equal(path.includes(other.id));
        }
      }),
      { numRuns: 200 },
    );
  });
});
