/** Stands for a view until there is something to show. */
export function Loading() {
  return (
    <div className="tool skeleton lines" role="status" aria-label="Loading">
      <i />
      <i />
      <i />
    </div>
  );
}
