import fc from 'fast-check';
import { type Application, type Child, defineApp, isGatewayError, type Turn } from '../../server/index.js';
import type { Message } from '../../shared/messages.js';
import { gate } from '../support/gate.js';

type Act =
  | { readonly do: 'say'; readonly times: number }
  | { readonly do: 'breathe'; readonly times: number }
  | { readonly do: 'spawn'; readonly program: Program; readonly detached: boolean }
  /** With a child of its own, by the number of its beginning. */
  | { readonly do: 'await' | 'follow' | 'steer' | 'abort'; readonly which: number }
  | { readonly do: 'take' }
  | { readonly do: 'ask' };

/** The acts of a run, one after another, and its end. A run that stands ends once the test lets it. */
export interface Program {
  readonly acts: readonly Act[];
  readonly ends: 'well' | 'fails' | 'stands';
}

const own = fc.nat(3);
const simple: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('say' as const), times: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('breathe' as const), times: fc.integer({ min: 1, max: 6 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom('await', 'await', 'follow', 'steer', 'abort'),
      which: own,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('take', 'ask') }) },
) as fc.Arbitrary<Act>;

/** Programs that begin others, so many deep. */
export function programsOf(depth: number): fc.Arbitrary<Program> {
  const act: fc.Arbitrary<Act> =
    depth === 0
      ? simple
      : fc.oneof(
          { weight: 3, arbitrary: simple },
          {
            weight: 2,
            arbitrary: fc.record({
              do: fc.constant('spawn' as const),
              program: programsOf(depth - 1),
              detached: fc.constantFrom(false, false, false, true),
            }),
          },
        );
  return fc.record({
    acts: fc.array(act, { minLength: 1, maxLength: 6, size: 'max' }),
    ends: fc.constantFrom('well', 'well', 'well', 'fails', 'stands'),
  });
}

const breathe = (): Promise<void> => new Promise(setImmediate);
const pieceOf = (name: string, number: number): string => `${name}:${number} `;

/** The whole text of an answer, as blocks say it. */
export const saidIn = ({ content }: Message): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('');

/** The text of a run that does all of its program. */
export function planOf(name: string, { acts }: Program): string {
  const pieces = acts.reduce((sum, act) => sum + (act.do === 'say' ? act.times : 0), 0);
  return Array.from({ length: pieces }, (_, number) => pieceOf(name, number)).join('');
}

/** An app whose runs do the programs that their messages name, and all that it knows of them. */
export class Players {
  readonly programs = new Map<string, Program>();
  /** The last handle of each child that was begun. */
  readonly children = new Map<string, Child>();
  /** What parents were told of their children's ends, and which text they followed to its end. */
  readonly told: { readonly name: string; readonly text: string; readonly stopReason?: string }[] = [];
  readonly wrong: string[] = [];
  readonly app: Application;
  readonly #free = gate();

  constructor() {
    this.app = defineApp({ resumable: true, run: (turn) => this.#play(turn as Turn) });
  }

  /** Lets those end that stand. */
  release(): void {
    this.#free.open();
  }

  async *#play(turn: Turn): AsyncGenerator<string, void> {
    const name = turn.text;
    const program = this.programs.get(name)!;
    const own: Child[] = [];
    let known = turn.resumed ? saidIn(turn.resumed).length : 0;
    let said = 0;
    let spawned = 0;
    for (const act of program.acts) {
      if (act.do === 'say') {
        for (let i = 0; i < act.times; i++) {
          const piece = pieceOf(name, said++);
          if (known < piece.length) yield piece.slice(known);
          known = Math.max(0, known - piece.length);
          await breathe();
        }
      } else if (act.do === 'spawn') {
        const child = this.#spawn(turn, `${name}/${spawned++}`, act.program, act.detached);
        if (child) own.push(child);
      } else if (act.do === 'breathe') for (let i = 0; i < act.times; i++) await breathe();
      else if (act.do === 'take') turn.steered();
      else if (act.do === 'ask') await turn.ask({ name: 'colour' });
      else if (own.length > 0)
        await this.#deal(act.do, own[(act as { readonly which: number }).which % own.length]!);
    }
    if (program.ends === 'stands') await this.#free.passed;
    if (program.ends === 'fails') throw new Error(`${name} fails`);
  }

  #spawn(turn: Turn, name: string, program: Program, detached: boolean): Child | null {
    this.programs.set(name, program);
    try {
      const child = turn.spawn('player', { message: name, id: name, detached });
      this.children.set(name, child);
      return child;
    } catch (error) {
      if (isGatewayError(error) && error.code === 'QUOTA_EXCEEDED') return null;
      throw error;
    }
  }

  async #deal(how: 'await' | 'follow' | 'steer' | 'abort', child: Child): Promise<void> {
    const { id: name } = child;
    if (how === 'abort') child.abort();
    // One that has ended takes no message.
    else if (how === 'steer') await child.steer(`for ${name}`).catch(() => {});
    else if (how === 'await')
      await child.result.then(
        ({ text, stopReason }) => this.told.push({ name, text, stopReason }),
        // It failed, or this process has lost it.
        () => {},
      );
    else await this.#follow(child);
  }

  async #follow({ id: name, text }: Child): Promise<void> {
    let all = '';
    try {
      for await (const piece of text) all += piece;
      this.told.push({ name, text: all });
    } catch (error) {
      // Events that were cut meanwhile, or a session that another has.
      const { code, name: kind } = error as { code?: string; name?: string };
      if (!/^(CURSOR_GONE|OVERLOADED)$/.test(String(code)) && kind !== 'AbortError')
        this.wrong.push(`following ${name}: ${code ?? error}`);
    }
  }
}
