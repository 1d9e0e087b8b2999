import type { Readable } from 'node:stream';
import type { SentSlice } from './exchange.js';

/** Gives the pieces of a stream to a slice, in step with it. Resolves at its end, or once nobody reads it; rejects if it breaks off. */
export function pour(stream: Readable, { take, signal }: SentSlice): Promise<void> {
  return new Promise((resolve, reject) => {
    const over = (): void => {
      stream.off('data', data).off('end', over).off('error', broken).off('close', closed);
      signal.removeEventListener('abort', over);
      // A stream that breaks off later is nobody's.
      stream.on('error', () => {});
      resolve();
    };
    const data = (piece: Buffer): void => {
      const wait = take(piece);
      if (!wait) return;
      stream.pause();
      wait.then(() => {
        if (!signal.aborted) stream.resume();
      });
    };
    const broken = (error: unknown): void => {
      reject(error);
      over();
    };
    const closed = (): void => broken(new Error('closed'));
    signal.addEventListener('abort', over, { once: true });
    stream.on('data', data).on('end', over).on('error', broken).on('close', closed);
    if (signal.aborted) over();
  });
}
