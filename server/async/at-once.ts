/** Does something with each of many values, with so many of them at a time, in their order. Ends with the first that fails. */
export async function atOnce<Value>(
  values: Iterable<Value>,
  lanes: number,
  work: (value: Value) => Promise<void>,
): Promise<void> {
  const left = values[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = left.next(); !next.done; next = left.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
