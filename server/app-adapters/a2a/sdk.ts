import type { AgentCard, Task } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { loadPeer } from '../../runtime/optional-peer.js';

export type A2aSdk = typeof import('@a2a-js/sdk') & typeof import('@a2a-js/sdk/client');
export type { AgentCard, Client, Task };
/** One item of the stream of a task. */
export type TaskItem =
  ReturnType<Client['sendMessageStream']> extends AsyncGenerator<infer Item> ? Item : never;
type Payload<Kind> = Extract<NonNullable<TaskItem['payload']>, { readonly $case: Kind }>['value'];
export type AgentMessage = Payload<'message'>;
export type AgentPart = AgentMessage['parts'][number];
export type Artifact = NonNullable<Payload<'artifactUpdate'>['artifact']>;
export type TaskStatus = NonNullable<Payload<'statusUpdate'>['status']>;

/** @throws GatewayError `INTERNAL` naming the package to install */
export const loadSdk = (): Promise<A2aSdk> =>
  loadPeer('@a2a-js/sdk', 'a2aApp', async () => ({
    ...(await import('@a2a-js/sdk')),
    ...(await import('@a2a-js/sdk/client')),
  }));

/** The agent's card, which names the addresses and protocols by which it is reached. */
export function cardOf(
  sdk: A2aSdk,
  { url, cardPath }: CardPlace,
  fetchImpl: typeof fetch,
): Promise<AgentCard> {
  const resolver = new sdk.DefaultAgentCardResolver({ fetchImpl, legacyCompat: { enabled: true } });
  return resolver.resolve(url, cardPath);
}

export interface CardPlace {
  readonly url: string;
  readonly cardPath: string | undefined;
}

/** A client of the agent that a card is of. It does not wait where the agent does not stream: the task is asked for again. */
export function clientOf(sdk: A2aSdk, card: AgentCard, fetchImpl: typeof fetch): Promise<Client> {
  const options = { fetchImpl, legacyCompat: { enabled: true } };
  const transports = [new sdk.JsonRpcTransportFactory(options), new sdk.RestTransportFactory(options)];
  return new sdk.ClientFactory({ transports, clientConfig: { polling: true } }).createFromAgentCard(card);
}
