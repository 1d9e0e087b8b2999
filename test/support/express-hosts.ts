import { createRequire } from 'node:module';
import express, { type Express } from 'express';

// Express 4 is installed under an alias without types; what the tests use of it has the same shape.
const express4 = createRequire(import.meta.url)('express4') as typeof express;

export interface ExpressHost {
  readonly name: string;
  readonly express: typeof express;
  app(): Express;
}

/** Both versions of Express that the middleware serves. */
export const EXPRESS_HOSTS: readonly ExpressHost[] = [
  { name: 'Express 5', express, app: () => express() },
  { name: 'Express 4', express: express4, app: () => express4() },
];
