import type { DeskQuestion } from 'agent-session-gateway';
import { GatewayError } from 'agent-session-gateway/client';
import { type Command, Option } from 'commander';
import { askOperator, type OperatorDatabase } from './ask-operator.js';
import { linesOf } from './lines.js';

/** The desk that a command asks: beside a database, or at a monitoring port. */
export interface DeskPlace extends OperatorDatabase {
  readonly monitor?: string;
}

/** Adds the options that say which desk is asked. */
export function withDesk(command: Command): Command {
  return command
    .addOption(
      new Option('--db <place>', 'the database of the gateway: a file, or a URL of Redis or PostgreSQL')
        .default('data/gateway.db')
        .env('GATEWAY_DB'),
    )
    .addOption(
      new Option(
        '--monitor <url>',
        'the monitoring port to ask instead, with the token in GATEWAY_MONITOR_TOKEN',
      ).env('GATEWAY_MONITOR_URL'),
    );
}

/** Asks the operators' desk. @throws GatewayError the reason why there is no answer */
export async function* askDesk<Row>(place: DeskPlace, question: DeskQuestion): AsyncGenerator<Row> {
  const { monitor } = place;
  const pieces = monitor === undefined ? askOperator(place, question) : askMonitor(monitor, question);
  for await (const line of linesOf(pieces)) if (line !== '') yield JSON.parse(line) as Row;
}

async function* askMonitor(url: string, question: DeskQuestion): AsyncGenerator<string> {
  const token = process.env.GATEWAY_MONITOR_TOKEN;
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  try {
    const body = JSON.stringify(question);
    const response = await fetch(new URL('/desk', url), { method: 'POST', headers, body });
    if (!response.ok) throw await errorIn(response);
    if (response.body)
      for await (const piece of response.body.pipeThrough(new TextDecoderStream())) yield piece;
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    const { cause, message } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    throw new GatewayError({ code: 'NETWORK', message: `${url} does not answer: ${why}`, cause: error });
  }
}

async function errorIn(response: Response): Promise<GatewayError> {
  try {
    const { code, message, details } = (await response.json()).error;
    return new GatewayError({ code, message, details });
  } catch {
    const message = `${response.url} answers ${response.status}, not as a monitoring port does`;
    return new GatewayError({ code: 'NETWORK', message });
  }
}
