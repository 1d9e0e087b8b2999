const HEIGHT = 56;
/** Least number of slots, so that few bars are not wide. */
const SLOTS = 24;

/** A bar chart of milliseconds. */
export function Plot({
  title,
  values,
  none,
}: {
  readonly title: string;
  readonly values: readonly number[];
  readonly none: string;
}) {
  const slots = Math.max(SLOTS, values.length);
  const most = Math.max(1, ...values);
  const sorted = [...values].sort((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  const facts = `median ${words(median)}, longest ${words(most)}`;
  return (
    <figure className="plot">
      <figcaption>
        {title} <span className="muted">{values.length > 0 ? facts : none}</span>
      </figcaption>
      {values.length > 0 && (
        <svg
          viewBox={`0 0 ${slots * 6} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}: ${values.length} values, ${facts}`}
        >
          {values.map((value, at) => {
            const height = Math.max(1, (value / most) * HEIGHT);
            return <rect key={at} x={at * 6} y={HEIGHT - height} width={4} height={height} rx={1} />;
          })}
        </svg>
      )}
    </figure>
  );
}

function words(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
