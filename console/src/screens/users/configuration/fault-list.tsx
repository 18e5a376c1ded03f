import { CircleAlert, Info, TriangleAlert } from "lucide-react";
import { MarkedText, Text } from "@/components/text";
import type { Fault } from "./api";

const icons = {
  error: <CircleAlert aria-label="error" className="mt-0.5 size-4 shrink-0 text-danger" />,
  warning: <TriangleAlert aria-label="warning" className="mt-0.5 size-4 shrink-0 text-warning" />,
  note: <Info aria-label="note" className="mt-0.5 size-4 shrink-0 text-info" />,
};

/** Faults of the configuration, each with its key and how to fix it. */
export function FaultList({ faults }: { faults: readonly Fault[] }) {
  if (faults.length === 0) return null;
  return (
    <ul
      aria-label="Faults"
      className="divide-y divide-line-soft rounded-md border border-line bg-surface"
    >
      {faults.map(({ key, severity, message, remedy }) => (
        <li key={`${key} ${message}`} className="flex gap-3 px-3 py-2 text-caption">
          {icons[severity]}
          <div className="grid min-w-0 flex-1 gap-0.5">
            <code className="break-words font-mono text-ink-soft text-label">
              <Text>{key}</Text>
            </code>
            <p className="break-words">
              <MarkedText>{message}</MarkedText>
            </p>
            <p className="break-words text-ink-soft">
              <MarkedText>{remedy}</MarkedText>
            </p>
          </div>
        </li>
      ))}
    </ul>
  );
}
