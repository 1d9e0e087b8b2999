import { fieldError, isGatewayError } from '../../shared/errors.js';
import type { LoggedEventData } from '../../shared/events.js';
import type { PendingQuestion } from '../../shared/fold.js';
import type { GivenOutput } from '../../shared/operation-types.js';
import { type Confirm, checkConfirm } from '../apps/confirm-policy.js';
import { isToolResult, type Tool, type ToolContext, type ToolOutput, toolResult } from '../apps/tool.js';
import { plainOutput } from '../apps/tool-output.js';
import { isPromise } from '../async/maybe-promise.js';
import { traceTool } from '../diagnostics/tool.js';
import { newCallId } from '../ids.js';
import { toJsonSchema } from '../schema/json-schema.js';
import { validate } from '../schema/validate.js';
import { assertInput, policyOf } from './approvals.js';
import { same } from './former-answer.js';
import { formerResult } from './former-result.js';
import type { Answer } from './questions.js';
import { openQuestion } from './rehearsal.js';
import { RunOver } from './run-over.js';
import { noteInStep } from './steps.js';
import type { Confirmation, ToolCaller } from './tool-caller.js';
import { ToolCallError } from './tool-error.js';

interface BegunCall {
  readonly callId: string;
  readonly toolName: string;
  /** The open question of a former process that this call continues. */
  readonly asked: PendingQuestion | null;
  /** Whether a former process has logged the call. */
  readonly logged?: boolean;
  /** The output that is given in its place. */
  readonly instead?: GivenOutput;
}

/**
 * Calls a tool within a run: logs the call, asks for confirmation if needed, runs the handler or the client, and logs the result.
 *
 * @param ownId The id of a call that no former process has logged
 */
export async function callTool(
  run: ToolCaller,
  name: string,
  given: unknown,
  ownId = newCallId(),
): Promise<unknown> {
  const checked = run.checked('tool-input', name, given);
  const input = isPromise(checked) ? await checked : checked;
  const former = run.resumption?.takeResult(name, input);
  if (former) return formerResult(former, name);
  const asked = run.resumption?.takeCall(name, input) ?? null;
  const left = asked?.callId ?? run.resumption?.takeUnanswered(name, input) ?? null;
  if (run.rehearsal)
    return run.rehearsal.meets({ what: 'tool', name, ...(asked && { open: openQuestion(asked.callId) }) });
  const instead = run.toolOutputs?.find(
    (each) => each.name === name && (each.input === undefined || same(each.input, input)),
  );
  const about = { callId: left ?? ownId, toolName: name, runId: run.runId };
  const call = { ...about, asked, logged: left !== null, ...(instead && { instead }) };
  noteInStep(about.callId);
  return traceTool(run, call, () => callLogged(run, call, input));
}

async function callLogged(run: ToolCaller, call: BegunCall, input: unknown): Promise<unknown> {
  const { callId, toolName: name, logged } = call;
  if (!logged) run.append('tool_use', { callId, name, input, ...(isClients(run, name) && CLIENT) });
  try {
    return logResult(run, call, await outputOf(run, call, input));
  } catch (error) {
    if (error instanceof RunOver) throw error;
    const failure = toFailure(run, call, error);
    const words = run.checked('tool-output', name, failure.message);
    failure.message = String(isPromise(words) ? await words : words);
    run.append('tool_result', { callId, name, output: failure.message, isError: true });
    throw failure;
  }
}

/** The output of a tool, once it is checked. */
async function outputOf(run: ToolCaller, call: BegunCall, input: unknown): Promise<unknown> {
  const output = await perform(run, call, input);
  const checked = run.checked('tool-output', call.toolName, output);
  if (!isPromise(checked)) return output;
  const said = await checked;
  return said !== output && isToolResult(output) ? toolResult(said as ToolOutput) : said;
}

/** Calls a tool outside of a run. Returns the result as content, and a failure as an error result. Never rejects. */
export async function callToolAlone(run: ToolCaller, call: BegunCall, input: unknown): Promise<ToolOutput> {
  try {
    return await traceTool(run, call, () => answerAlone(run, call, input));
  } catch (error) {
    const { message } = error as ToolCallError;
    return { content: [{ type: 'text', text: message }], isError: true };
  }
}

async function answerAlone(run: ToolCaller, call: BegunCall, input: unknown): Promise<ToolOutput> {
  try {
    const checked = await run.checked('tool-input', call.toolName, input);
    const output = await outputOf(run, call, checked);
    return isToolResult(output) ? output : plainOutput(output);
  } catch (error) {
    throw toFailure(run, call, error);
  }
}

const CLIENT = { runsOn: 'client' } as const;

/** Whether the user's client answers calls of a tool. The app's own tools take precedence. */
function isClients({ tools, clientTools }: ToolCaller, name: string): boolean {
  if (Object.hasOwn(tools, name)) return tools[name]!.runsOn === 'client';
  return clientTools.some((tool) => tool.name === name);
}

/** Finds the tool, asks for confirmation if needed, and runs it. */
async function perform(run: ToolCaller, call: BegunCall, input: unknown): Promise<unknown> {
  const { toolName: name, instead } = call;
  // It has the form in which the log has outputs.
  if (instead) return isContent(instead.output) ? toolResult(instead.output) : instead.output;
  const tool: Tool<unknown, unknown> | undefined = Object.hasOwn(run.tools, name)
    ? run.tools[name]
    : undefined;
  if (tool) return performOwn(run, tool, call, input);
  const brought = run.clientTools.find((other) => other.name === name);
  // Not validated here: a sender's schema could bring patterns that take the server forever.
  if (brought) return askClient(run, brought.parameters ?? null, call, input);
  throw new ToolCallError(call, `There is no tool named ${name}`);
}

function isContent(output: unknown): output is ToolOutput {
  return Array.isArray((output as Partial<ToolOutput> | null)?.content);
}

async function performOwn(
  run: ToolCaller,
  tool: Tool<unknown, unknown>,
  call: BegunCall,
  raw: unknown,
): Promise<unknown> {
  const { callId, toolName: name, asked: pending } = call;
  const context = toolContext(run, callId);
  let [input, wants] = await atWork(run, async (): Promise<[unknown, Confirm]> => {
    const valid = tool.schema ? await validate(tool.schema, raw, 'input') : raw;
    return [valid, typeof tool.confirm === 'function' ? await tool.confirm(valid, context) : tool.confirm];
  });
  // A resumed call keeps its open confirmation, and is not confirmed again if it was before.
  const mustAsk = pending ? pending.kind === 'confirmation' : wants;
  if (pending?.kind === 'input') input = pending.input;
  const former = call.logged && !pending ? (run.resumption?.takeDecision(callId) ?? null) : null;
  if (mustAsk) {
    if (typeof wants === 'object') checkConfirm(wants, `tools.${name}.confirm`);
    const message = messageOf(tool, wants, input);
    const policy = pending ? pending.policy : policyOf(wants, input, run.now());
    const asked = {
      callId,
      name,
      input,
      ...(message !== undefined && { message }),
      ...(policy && { policy }),
    };
    const answer =
      former ??
      (await confirmation(run, asked, {
        announced: pending !== null,
        check: async (changed) => (tool.schema ? validate(tool.schema, changed, 'input') : changed),
      }));
    if (!answer.approved) {
      throw new ToolCallError(
        { ...call, denied: true },
        answer.reason ? `Denied: ${answer.reason}` : 'Denied',
      );
    }
    if (answer.input !== undefined) input = answer.input;
  }
  if (tool.runsOn !== 'client') return atWork(run, async () => tool.handler?.(input, context));
  return askClient(run, tool.schema ? toJsonSchema(tool.schema, 'input').schema : null, call, input);
}

/** Does work of the app's code, which holds the run in memory. */
export async function atWork<Result>(
  run: Pick<ToolCaller, 'work'>,
  work: () => Promise<Result>,
): Promise<Result> {
  const over = run.work();
  try {
    return await work();
  } finally {
    over();
  }
}

function messageOf(
  { confirmMessage }: Tool<unknown, unknown>,
  wants: Confirm,
  input: unknown,
): string | undefined {
  if (typeof wants === 'object' && wants.message !== undefined) return wants.message;
  return typeof confirmMessage === 'function' ? confirmMessage(input) : confirmMessage;
}

function logResult(run: ToolCaller, call: BegunCall, result: unknown): unknown {
  const { callId, toolName: name } = call;
  if (!isToolResult(result)) {
    run.append('tool_result', { callId, name, output: result ?? null, isError: false });
    return result;
  }
  const { content, structured, isError = false } = result;
  if (isError) {
    const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    throw new ToolCallError(call, text || 'The tool reported an error');
  }
  const output = structured === undefined ? { content } : { content, structured };
  run.append('tool_result', { callId, name, output, isError });
  return structured ?? result;
}

/** Asks for confirmation and waits for the answer. `input` in the answer is checked. */
export function confirmation(
  run: ToolCaller,
  asked: Confirmation,
  { announced, check }: { readonly announced: boolean; check(input: unknown): Promise<unknown> },
): Promise<Answer> {
  const { callId, name, policy } = asked;
  return run.ask(
    { callId, confirmation: asked },
    () => {
      if (!announced) run.append('tool_confirmation_required', asked);
    },
    async (answer) => {
      if (typeof answer.approved !== 'boolean')
        throw fieldError('approved', 'must be true or false for a confirmation');
      assertInput(answer, asked);
      const changed =
        answer.approved && answer.input !== undefined ? { input: await check(answer.input) } : {};
      const { approved, reason, by, givenBy, roles } = answer;
      if (policy) return run.vote({ callId, answer: { approved, reason, by, givenBy, roles, ...changed } });
      await run.commit('tool_confirmation_result', {
        callId,
        name,
        approved,
        ...(reason !== undefined && { reason }),
        ...changed,
        by,
      });
      return { approved, reason, by, ...changed };
    },
  );
}

/** Asks the user's client for the result of a call. */
async function askClient(
  run: ToolCaller,
  schema: unknown,
  call: BegunCall,
  input: unknown,
): Promise<unknown> {
  const asked = {
    callId: call.callId,
    name: call.toolName,
    payload: input,
    ...(schema !== null && { schema }),
  };
  const answer = await question(run, asked, { announced: call.asked?.kind === 'input' });
  if (answer.approved === false) {
    throw new ToolCallError({ ...call, denied: true }, answer.reason ? `Denied: ${answer.reason}` : 'Denied');
  }
  return answer.output;
}

/** Asks the session's clients a question. `output` in the answer is checked. */
export function question(
  run: ToolCaller,
  asked: LoggedEventData['input_required'],
  options: {
    /** Whether a former process has logged the question. */
    readonly announced: boolean;
    check?(output: unknown): Promise<unknown>;
  },
): Promise<Answer> {
  const { callId, name } = asked;
  return run.ask(
    { callId },
    () => {
      if (!options.announced) run.append('input_required', asked);
    },
    async (answer) => {
      if (answer.approved !== false && answer.output === undefined)
        throw fieldError('output', 'an answer is required');
      const check = options.check ?? ((output: unknown) => output);
      const output = answer.approved === false ? null : await check(answer.output);
      // The log gets the person's answer; the app gets the output of its schema.
      await run.commit('input_result', { callId, name, output: answer.output ?? null, by: answer.by });
      return { ...answer, output };
    },
  );
}

function toolContext(run: ToolCaller, callId: string): ToolContext {
  return {
    get signal() {
      return run.signal;
    },
    user: run.user,
    session: { id: run.session.id, app: run.session.app },
    callId,
    progress(value, total, message) {
      const progress = { value: finite(value, 'value') };
      if (total !== undefined) Object.assign(progress, { total: finite(total, 'total') });
      if (message !== undefined) Object.assign(progress, { message: String(message) });
      run.progress({ callId, ...progress });
    },
  };
}

/** A failure as the model and clients may read it: the gateway's own words, never those of an unknown error. */
function toFailure(run: ToolCaller, call: BegunCall, error: unknown): ToolCallError {
  if (error instanceof ToolCallError) return error;
  if (isGatewayError(error)) {
    const issues = Array.isArray(error.details) ? `: ${JSON.stringify(error.details)}` : '';
    return new ToolCallError(call, `${error.message}${issues}`, { cause: error });
  }
  run.report(error, `tool ${call.toolName} failed`);
  return new ToolCallError(call, 'The tool failed', { cause: error });
}

/** @throws GatewayError `INVALID_PARAMS` for a value that is not a JSON number */
function finite(value: unknown, field: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw fieldError(field, 'progress must be a finite number');
}
