import { type ReactNode, useId } from "react";
import { cn } from "./cn";

/** Attributes that connect an input with its label, hint and error. */
export interface FieldAttributes {
  id: string;
  "aria-invalid": true | undefined;
  "aria-describedby": string | undefined;
}

/** `dense` is for tools with many fields. */
type Size = "dense" | "md";

const sizes: Record<Size, { head: string; label: string; note: string; noteGap: string }> = {
  dense: {
    head: "mb-1 gap-3",
    label: "min-w-0 truncate text-caption",
    note: "text-label",
    noteGap: "mt-1",
  },
  md: { head: "mb-1.5 gap-4", label: "text-small", note: "text-caption", noteGap: "mt-1.5" },
};

export interface FieldProps {
  label: ReactNode;
  size?: Size;
  error?: string | undefined;
  hint?: ReactNode;
  /** Shown beside the label, for example the type of a column or a "Forgot password?" link. */
  aside?: ReactNode;
  children: (attributes: FieldAttributes) => ReactNode;
}

/** A form field with label, and with an error or hint that screen readers announce. */
export function Field({ label, size = "md", error, hint, aside, children }: FieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  const note = error ?? hint;
  const classes = sizes[size];
  return (
    <div>
      <div className={cn("flex items-baseline justify-between", classes.head)}>
        <label htmlFor={id} className={cn("font-medium", classes.label)}>
          {label}
        </label>
        {aside}
      </div>
      {children({
        id,
        "aria-invalid": error === undefined ? undefined : true,
        "aria-describedby": note === undefined || note === null ? undefined : noteId,
      })}
      <div
        id={noteId}
        aria-live="polite"
        className={cn(
          classes.note,
          error === undefined ? "text-ink-soft" : "text-danger",
          note && classes.noteGap,
        )}
      >
        {note}
      </div>
    </div>
  );
}
