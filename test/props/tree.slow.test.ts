import { expect } from 'chai';
import fc from 'fast-check';
import type { OnBusy } from '../../shared/events.js';
import { isWholeDay } from '../support/daily.js';
import { DrivenTree } from '../support/driven-tree.js';
import { casesOn, STORES } from '../support/stores.js';
import { FoldingReader } from '../support/tree-readers.js';

/** One of the messages there are, by its number; those that are shown count twice. */
const which = fc.noBias(fc.nat(400));
const onBusy = fc.constantFrom<OnBusy>('queue', 'queue', 'steer', 'interrupt', 'reject');

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      onBusy,
      preceding: fc.oneof({ weight: 6, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(40) }),
      begins: fc.boolean(),
      ownId: fc.boolean(),
      twice: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('edit' as const),
      how: fc.constantFrom('parent' as const, 'replaces' as const, 'replaces' as const, 'first' as const),
      which,
      onBusy,
      begins: fc.boolean(),
      twice: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('regenerate' as const),
      which: fc.option(which, { nil: undefined }),
      twice: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('move' as const), which: fc.option(which) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('editTwice' as const), which }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('fork' as const), which: fc.option(which, { nil: undefined }) }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('finish' as const), says: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('steer' as const, 'restart' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('abort' as const), which }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('come' as const, 'leave' as const), reader: fc.nat(3) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('look' as const), limit: fc.integer({ min: 5, max: 60 }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer Kind> ? Kind : never;

const retentions = fc.oneof(
  fc.record({ events: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ bytes: fc.integer({ min: 200, max: 6000 }) }),
  fc.constant({}),
);

/** How often each kind of step came to what it is for, and with which codes others were refused. */
const met = new Map<string, number>();
const note = (what: string): void => void met.set(what, (met.get(what) ?? 0) + 1);

async function take(tree: DrivenTree, it: Step): Promise<string | null | void> {
  const { model } = tree;
  const named = (number: number): string => {
    const names = [...model.path(), ...tree.nameable];
    return names[number % names.length]!;
  };
  switch (it.kind) {
    case 'send':
      return tree.send(it);
    case 'edit': {
      const id = named(it.which);
      const places = { parent: { parent: id }, replaces: { replaces: id }, first: { parent: null } };
      return tree.send({ ...it, place: places[it.how] });
    }
    case 'regenerate':
      return tree.regenerate(it.which === undefined ? undefined : named(it.which), it.twice);
    case 'move':
      return tree.move(it.which === null ? null : named(it.which));
    case 'editTwice':
      return tree.editTwice(named(it.which));
    case 'fork':
      return tree.fork(it.which === undefined ? undefined : named(it.which));
    case 'finish':
      return tree.finish(it.says ? 'and that is all' : '');
    case 'steer':
      return tree.steer();
    case 'restart':
      return tree.restart();
    case 'abort': {
      const open = [...(model.active ? [model.active] : []), ...model.waiting];
      return open.length === 0 ? 'nothing' : tree.abort(open[it.which % open.length]!.runId);
    }
    case 'come':
    case 'leave': {
      const reader = tree.readers[it.reader]!;
      if (it.kind === 'come') reader.come(tree.session);
      else await reader.leave();
      return null;
    }
    case 'look':
      return tree.look(it.limit);
  }
}

for (const on of STORES) {
  describe(`a conversation that people change (${on.name})`, () => {
    it('is the tree of the model to everybody who reads it, whatever is cut, moved, forked or begun again', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }),
          retentions,
          fc.boolean(),
          async (steps, retention, resumable) => {
            const tree = new DrivenTree(on, { retention }, resumable);
            await tree.send({ onBusy: 'queue' });
            for (const from of ['earliest', 'snapshot', 'earliest', 'snapshot'] as const)
              tree.readers.push(new FoldingReader(from));
            for (const reader of tree.readers.slice(0, 2)) reader.come(tree.session);
            for (const it of steps) {
              await tree.check();
              note([it.kind, (await take(tree, it)) ?? []].flat().join(' '));
            }
            await tree.end();
            if (tree.cut) note('cut');
            for (const { gaps } of tree.readers) if (gaps > 0) note('gap');
          },
        ),
        { numRuns: casesOn(on, 60) },
      );
    });
  });
}

describe('the steps of these tests', () => {
  it('did what they are for', () => {
    const kinds = [
      'send',
      'edit',
      'regenerate',
      'move',
      'fork',
      'editTwice',
      'restart',
      'abort',
      'gap',
      'cut',
    ];
    for (const kind of kinds) expect(met.get(kind), kind).to.be.greaterThan(3);
    // On some stores alone there are too few cases for what is rare.
    if (process.env.TEST_STORE !== undefined || !isWholeDay) return;
    for (const refusal of [
      'edit HISTORY_MOVED',
      'edit MESSAGE_NOT_FOUND',
      'edit SESSION_BUSY',
      'send QUEUE_FULL',
    ])
      expect(met.get(refusal), refusal).to.be.greaterThan(0);
  });
});
