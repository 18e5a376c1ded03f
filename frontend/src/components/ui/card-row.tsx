import { cn } from "@ui/cn";
import type { ReactNode } from "react";
import type { CardShape } from "./card-columns";

/** Cards as in a grid's first lines; on phones one line that is swiped. What does not fit is not shown. */
const lines = {
  1: "md:max-lg:[&>:nth-child(n+4)]:hidden lg:[&>:nth-child(n+5)]:hidden",
  2: "md:max-lg:[&>:nth-child(n+7)]:hidden lg:[&>:nth-child(n+9)]:hidden",
} as const;

const row = cn(
  "no-scrollbar -mx-4 flex snap-x gap-3 overflow-x-auto scroll-pl-4 px-4 pb-2 [&>*]:w-[46%] [&>*]:shrink-0 [&>*]:snap-start",
  "md:mx-0 md:grid md:grid-cols-3 md:gap-x-5 md:gap-y-8 md:overflow-visible md:p-0 md:[&>*]:w-auto lg:grid-cols-4",
);

interface CardRowProps<Row extends { id: string }> {
  rows: readonly Row[];
  label: string;
  lineCount?: 1 | 2;
  children: (row: Row) => ReactNode;
}

/** The first cards of a list, in one or two lines; on phones a line that is swiped sideways. */
export function CardRow<Row extends { id: string }>({
  rows,
  label,
  lineCount = 1,
  children,
}: CardRowProps<Row>) {
  return (
    <ul aria-label={label} className={cn(row, lines[lineCount])}>
      {rows.map((one) => (
        <li key={one.id}>{children(one)}</li>
      ))}
    </ul>
  );
}

/** Placeholders in the shape of the cards to come. */
export function CardRowSkeleton({ label, shape }: { label: string; shape: CardShape }) {
  return (
    <div role="status">
      <span className="sr-only">{label}</span>
      <div aria-hidden="true" className={cn(row, lines[1])}>
        {["a", "b", "c", "d"].map((card) => (
          <div key={card}>
            <span
              className="skeleton block rounded-md!"
              style={{ aspectRatio: `${1 / shape.ratio}` }}
            />
            <div style={{ height: shape.captionHeight }} />
          </div>
        ))}
      </div>
    </div>
  );
}
