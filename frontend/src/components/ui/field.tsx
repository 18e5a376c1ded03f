import { type ReactNode, useId } from "react";
import { cn } from "@/lib/cn";

/** What an input must carry so that its label, hint and error belong to it. */
export interface FieldWiring {
  id: string;
  "aria-invalid": true | undefined;
  "aria-describedby": string | undefined;
}

interface FieldProps {
  label: string;
  error?: string | undefined;
  hint?: ReactNode;
  /** Beside the label, such as a "Forgot password?" link. */
  aside?: ReactNode;
  children: (wiring: FieldWiring) => ReactNode;
}

/** A labelled form field whose error and hint screen readers find. */
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
