import { Fragment, type ReactNode } from "react";
import { Text } from "@/components/text";

interface FactsProps {
  /** Terms with their values. Texts may come from the database. A value of null is left out together with its term. */
  facts: readonly (readonly [string, ReactNode])[];
}

/** Terms and values beside each other, as a panel shows an object's properties. */
export function Facts({ facts }: FactsProps) {
  return (
    <dl className="grid grid-cols-[6.5rem_minmax(0,1fr)] gap-x-3 gap-y-1.5 text-caption">
      {facts
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([term, value]) => (
          <Fragment key={term}>
            <dt className="text-ink-soft">{term}</dt>
            <dd className="break-words">
              {typeof value === "string" ? <Text>{value}</Text> : value}
            </dd>
          </Fragment>
        ))}
    </dl>
  );
}
