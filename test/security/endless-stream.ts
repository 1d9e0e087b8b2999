/** What a method streams that never ends by itself. */
export async function* forEver(): AsyncGenerator<number> {
  yield 1;
  await new Promise(() => {});
}
