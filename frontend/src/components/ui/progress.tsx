interface ProgressProps {
  /** Accessible name: what is in progress. */
  label: string;
  /** The finished part, 0 to 1. */
  value: number;
}

/** A bar that fills up. */
export function Progress({ label, value }: ProgressProps) {
  const percent = Math.round(value * 100);
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      className="h-1.5 w-full overflow-hidden rounded-full bg-line"
    >
      <div
        className="h-full rounded-full bg-accent transition-[width]"
        style={{ width: `${percent}%` }}
      />
    </div>
  );
}
