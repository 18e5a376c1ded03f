import type { ReactNode } from "react";
import type { Setting } from "@/api/settings";
import { SettingLine } from "@/components/setting-value";

interface PartProps {
  title: string;
  text: ReactNode;
  children: ReactNode;
}

/** A section of the screen with its heading. */
export function Part({ title, text, children }: PartProps) {
  return (
    <section aria-label={title} className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <header>
        <h2 className="font-medium text-small">{title}</h2>
        <p className="text-caption text-ink-soft">{text}</p>
      </header>
      {children}
    </section>
  );
}

export function SettingLines({ settings }: { settings: readonly Setting[] }) {
  return (
    <ul className="divide-y divide-line-soft">
      {settings.map((setting) => (
        <SettingLine key={setting.key} setting={setting} />
      ))}
    </ul>
  );
}

interface CardProps {
  name: string;
  badge: ReactNode;
  action: ReactNode;
  children: ReactNode;
}

/** A provider or hook: its name and state, the button for a test call, and its settings. */
export function Card({ name, badge, action, children }: CardProps) {
  return (
    <section aria-label={name} className="rounded-md border border-line bg-surface">
      <header className="flex min-h-11 flex-wrap items-center gap-2 border-line-soft border-b py-1 pr-1.5 pl-3">
        <h3 className="font-medium text-caption">{name}</h3>
        {badge}
        <span className="ml-auto">{action}</span>
      </header>
      {children}
    </section>
  );
}
