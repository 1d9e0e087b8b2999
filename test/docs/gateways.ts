import { type Application, createGateway, Gateway } from 'agent-session-gateway';
import { expect } from 'chai';
import { textOf } from '../../shared/messages.js';
import type { Ran } from './checks.js';

const USER = { user: { id: 'ada', roles: ['admin', 'staff'] } };

const gatewayOf = (value: any): Gateway<any, any, any> | undefined => {
  if (value instanceof Gateway) return value;
  return value?.gateway instanceof Gateway ? value.gateway : undefined;
};

const isApp = (value: any): boolean =>
  typeof value?.run === 'function' && Object.hasOwn(value, 'run') && !('send' in value);

/** Starts a gateway where that has not been done, and has its default app answer. */
export async function answers(gateway: Gateway<any, any, any>, text = 'Hello'): Promise<string> {
  await gateway.start();
  const { message, stopReason, error } = await gateway.session('main', USER).send(text).result;
  expect(stopReason, error?.message).to.equal('end');
  return message ? textOf(message) : '';
}

/** Has a gateway answer whose app asks: whatever it asks gets the same answer. */
export async function answersWhenAsked(
  gateway: Gateway<any, any, any>,
  text: string,
  answer: { readonly approved: boolean } | { readonly output: unknown },
): Promise<string> {
  await gateway.start();
  const session = gateway.session('main', USER);
  const { result } = session.send(text);
  for await (const event of session.events({ from: 'earliest' })) {
    if (event.type === 'input_required' || event.type === 'tool_confirmation_required')
      await session.respond(event.callId, answer);
    if (event.type === 'message_end') break;
  }
  const { message, stopReason } = await result;
  expect(stopReason).to.equal('end');
  await gateway.close();
  return textOf(message!);
}

export const inGateway = (app: Application) => createGateway({ app, embedded: true, auth: { type: 'none' } });

/** What every block has to bear: its gateways start and answer, and its apps do in a gateway. */
export async function tryGateways({ exports }: Ran): Promise<void> {
  for (const value of Object.values(exports)) {
    const gateway = gatewayOf(value);
    if (gateway) {
      await answers(gateway);
      await gateway.close();
    } else if (isApp(value)) {
      const host = inGateway(value);
      await answers(host);
      await host.close();
    }
  }
}
