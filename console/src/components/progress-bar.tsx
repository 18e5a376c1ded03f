interface ProgressBarProps {
  label: string;
  /** 0 to 1; null while the total is not known. */
  value: number | null;
}

/** How much of an upload or a job is done. */
export function ProgressBar({ label, value }: ProgressBarProps) {
  const percent = value === null ? null : Math.round(Math.min(1, Math.max(0, value)) * 100);
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(percent !== null && { "aria-valuenow": percent })}
      className="mt-1 h-1 overflow-hidden rounded-full bg-line-soft"
    >
      <div
        className="h-full rounded-full bg-ink-soft transition-[width]"
        style={{ width: `${percent ?? 30}%` }}
      />
    </div>
  );
}
