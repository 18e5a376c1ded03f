import { cn } from "@ui/cn";
import type { ReactNode } from "react";

type Tone = "neutral" | "success" | "warning" | "danger" | "info";

const tones: Record<Tone, string> = {
  neutral: "border-line text-ink-soft",
  success: "border-success/40 text-success",
  warning: "border-warning/40 text-warning",
  danger: "border-danger/40 text-danger",
  info: "border-info/40 text-info",
};

interface BadgeProps {
  tone?: Tone;
  title?: string;
  children: ReactNode;
}

/** A word of state, such as "RLS" or "banned". */
export function Badge({ tone = "neutral", title, children }: BadgeProps) {
  return (
    <span
      title={title}
      className={cn(
        "inline-flex h-4.5 shrink-0 items-center gap-1 whitespace-nowrap rounded-[4px] border px-1 font-medium text-micro",
        tones[tone],
      )}
    >
      {children}
    </span>
  );
}
