import { Switch as RadixSwitch } from "radix-ui";

interface SwitchProps {
  label: string;
  /** Id of a text that explains it. */
  describedBy?: string;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}

/** An on/off control that takes effect immediately; 44 pixels wide and high for touch. */
export function Switch({ label, describedBy, checked, disabled = false, onChange }: SwitchProps) {
  return (
    <RadixSwitch.Root
      checked={checked}
      disabled={disabled}
      aria-label={label}
      aria-describedby={describedBy}
      onCheckedChange={onChange}
      className="relative inline-flex h-6 w-10 shrink-0 rounded-full bg-line-strong align-middle transition-colors after:absolute after:-inset-2.5 data-[state=checked]:bg-success disabled:opacity-60"
    >
      <RadixSwitch.Thumb className="m-0.5 block size-5 rounded-full bg-raised transition-transform data-[state=checked]:translate-x-4" />
    </RadixSwitch.Root>
  );
}
