import { createServer, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';
import { listenWith } from './host-server.js';

/** A key of an issuer. */
export interface SigningKey {
  readonly kid: string;
  readonly published: JWK;
  sign(claims: JWTPayload, header?: { readonly kid?: string }): Promise<string>;
}

export async function signingKey(kid: string, algorithm = 'ES256'): Promise<SigningKey> {
  const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
  return {
    kid,
    published: { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' },
    sign: (claims, header) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: algorithm, kid, ...header })
        .setIssuedAt()
        .setExpirationTime('5m')
        .sign(privateKey),
  };
}

type Answer = (response: ServerResponse) => void;

/** An issuer's server of published keys, which can rotate and fail. */
export class KeyServer {
  readonly uri: string;
  /** Requests so far. */
  asked = 0;
  readonly #answer: { now: Answer };

  private constructor(uri: string, answer: { now: Answer }) {
    this.uri = uri;
    this.#answer = answer;
  }

  static async start(...keys: readonly SigningKey[]): Promise<KeyServer> {
    const answer: { now: Answer } = { now: () => {} };
    const server = createServer((_request, response) => {
      it.asked += 1;
      answer.now(response);
    });
    const it = new KeyServer(`${await listenWith(server)}/keys`, answer);
    it.publish(...keys);
    return it;
  }

  publish(...keys: readonly SigningKey[]): void {
    const body = JSON.stringify({ keys: keys.map(({ published }) => published) });
    this.answers((response) => response.setHeader('content-type', 'application/json').end(body));
  }

  answers(answer: Answer): void {
    this.#answer.now = answer;
  }

  /** Cuts every connection. */
  goesDown(): void {
    this.answers((response) => response.destroy());
  }

  /** Takes requests and says nothing. */
  hangs(): void {
    this.answers(() => {});
  }
}
