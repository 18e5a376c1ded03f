import { type ReactNode, useLayoutEffect, useRef } from "react";
import { cn } from "./cn";

interface SavingFieldsProps {
  /** Whether what the fields hold is on its way to the server. */
  isSaving: boolean;
  className?: string;
  children: ReactNode;
}

/**
 * The fields of a form that closes when it is saved. Meanwhile nothing can be typed or chosen in them, because it would not be part
 * of what was sent, and would be gone with the form. When saving has failed, the focus is where it was.
 */
export function SavingFields({ isSaving, className, children }: SavingFieldsProps) {
  const focused = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    const active = document.activeElement;
    if (isSaving) {
      // A pressed button is disabled as well. Of a field that is disabled, browsers have taken the focus by now.
      if (active instanceof HTMLElement && active !== document.body) focused.current = active;
      return;
    }
    // If another element has been given the focus meanwhile, it keeps it.
    const former = focused.current;
    if (former?.isConnected && (active?.contains(former) ?? true)) former.focus();
  }, [isSaving]);
  return (
    <fieldset
      disabled={isSaving}
      onFocus={(event) => {
        focused.current = event.target;
      }}
      className={cn("relative min-w-0", className)}
    >
      <p aria-live="polite" className="sr-only">
        {isSaving && "Saving…"}
      </p>
      {children}
    </fieldset>
  );
}

/** The same for an editor of code, which is no field that a fieldset disables. Its text, selection and what can be undone stay. */
export function SavingEditor({ isSaving, className, children }: SavingFieldsProps) {
  return (
    <div inert={isSaving} className={cn("inert:opacity-60", className)}>
      {children}
    </div>
  );
}
