import { type ReactNode, useId } from "react";
import { Checkbox } from "@/components/input";

interface CheckboxFieldProps {
  label: ReactNode;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}

/** A checkbox with its label in one line. */
export function CheckboxField({ label, checked, onChange, disabled = false }: CheckboxFieldProps) {
  const id = useId();
  return (
    <span className="inline-flex min-h-6 items-center gap-1.5 text-caption">
      <Checkbox
        id={id}
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <label htmlFor={id}>{label}</label>
    </span>
  );
}
