import { type ReactNode, useId } from "react";

interface SettingsPanelProps {
  title: string;
  children: ReactNode;
}

/** A part of the settings page with its heading. */
export function SettingsPanel({ title, children }: SettingsPanelProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="rounded-md border border-line bg-surface p-4 sm:p-5">
      <h2 id={id} className="mb-4 font-medium text-body">
        {title}
      </h2>
      {children}
    </section>
  );
}
