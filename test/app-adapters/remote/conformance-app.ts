import type { ServedApp, ServedTurn } from '../../../server/app-adapters/remote/index.js';
import { GatewayError } from '../../../server/index.js';
import type { AppEvent } from '../../../server/apps/application.js';

type Instruction = readonly [what: string, ...args: any[]];
type Failure = { readonly error: { readonly code: string; readonly message: string } };

/** The app `conformance` of `conformance/apps.yaml`, by `serveApp`. */
export const conformanceApp: ServedApp = {
  async *run(turn) {
    let last: unknown = null;
    for (const instruction of JSON.parse(turn.text) as Instruction[]) {
      const [what, ...args] = instruction;
      if (what === 'last') yield JSON.stringify(last);
      else if (isSaid(what)) yield* said(what, args);
      else if (what === 'throw') throw new GatewayError({ code: args[0], message: args[1] });
      else if (what === 'crash') throw new Error('a secret of the app');
      else last = await outcomeOf(turn, instruction);
    }
  },
};

const isSaid = (what: string): boolean => ['say', 'reason', 'data', 'ran'].includes(what);

function* said(what: string, args: any[]): Generator<string | AppEvent, void> {
  if (what === 'say') yield args[0];
  if (what === 'reason') yield { type: 'reasoning_delta', delta: args[0] };
  if (what === 'data') yield { type: 'data', id: args[0], name: args[1], value: args[2] };
  if (what !== 'ran') return;
  const [callId, name, input, output] = args;
  yield { type: 'tool_use', callId, name, input };
  yield { type: 'tool_result', callId, name, output, isError: false };
}

async function outcomeOf(turn: ServedTurn, [what, ...args]: Instruction): Promise<unknown> {
  try {
    return (await called(turn, what, args)) ?? null;
  } catch (error) {
    const { code, message } = error as GatewayError;
    return { error: { code, message } } satisfies Failure;
  }
}

function called(turn: ServedTurn, what: string, [one, two, three]: any[]): unknown {
  switch (what) {
    case 'usage':
      return turn.usage(one);
    case 'title':
      return turn.title(one);
    case 'annotate':
      return turn.annotate(one);
    case 'step':
      return turn.step(one, () => two);
    case 'fail':
      return turn.step(one, () => {
        throw new GatewayError({ code: two, message: three });
      });
    case 'sleep':
      return turn.sleep(one, two);
    case 'ask':
      return turn.ask({ name: one, payload: two, schema: three });
    case 'confirm':
      return turn.confirm({ name: one, input: two, message: three });
    case 'tool':
      return turn.callTool(one, two);
    case 'spawn':
      return turn.spawn(one, { message: two, ...three });
    case 'together':
      return Promise.all((one as Instruction[]).map((each) => outcomeOf(turn, each)));
    case 'spend':
      return new Promise((resolve) => setTimeout(resolve, one));
    default:
      throw new Error(`unknown instruction ${what}`);
  }
}
