import { cn } from "@ui/cn";
import { type ReactNode, useId } from "react";

/** Attributes that connect an input with its label, hint and error. */
export interface FieldAttributes {
  id: string;
  "aria-invalid": true | undefined;
  "aria-describedby": string | undefined;
}

interface FieldProps {
  label: string;
  error?: string | undefined;
  hint?: ReactNode;
  /** Shown beside the label, for example a "Forgot password?" link. */
  aside?: ReactNode;
  children: (attributes: FieldAttributes) => ReactNode;
}

/** A form field with label, and with an error or hint that screen readers announce. */
export function Field({ label, error, hint, aside, children }: FieldProps) {
  const id = useId();
  const noteId = `${id}-note`;
  const note = error ?? hint;
  return (
    <div>
      <div className="mb-1.5 flex items-baseline justify-between gap-4">
        <label htmlFor={id} className="font-medium text-small">
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
          "text-caption",
          error === undefined ? "text-ink-soft" : "text-danger",
          note && "mt-1.5",
        )}
      >
        {note}
      </div>
    </div>
  );
}
