import { useRecord } from '../timeline/use-record.js';

/** Counts of the session's events, checked by their own numbers. */
export function Counter() {
  const { account, outages } = useRecord();
  const { delivered, lost, doubled, gaps } = account;
  return (
    <dl className="counter" aria-label="Events">
      <Figure name="delivered" value={delivered} />
      <Figure name="resumed" value={outages.length} about="Times the connection came back" />
      <Figure name="lost" value={lost} isBad={lost > 0} about="Numbers passed over without a word" />
      <Figure name="doubled" value={doubled} isBad={doubled > 0} about="Numbers that came twice" />
      {gaps > 0 && <Figure name="gaps" value={gaps} about="Announced: those events are not kept any more" />}
    </dl>
  );
}

function Figure({
  name,
  value,
  isBad = false,
  about,
}: {
  readonly name: string;
  readonly value: number;
  readonly isBad?: boolean;
  readonly about?: string;
}) {
  return (
    <div className={isBad ? 'bad' : ''} title={about}>
      <dt>{name}</dt>
      <dd data-counter={name}>{value}</dd>
    </div>
  );
}
