import { Tabs as RadixTabs } from "radix-ui";
import type { ReactNode } from "react";
import { Text } from "@/components/text";

interface TabsProps {
  /** Accessible name of the list of tabs. */
  label: string;
  value: string;
  onChange: (value: string) => void;
  tabs: readonly { value: string; label: string; badge?: ReactNode }[];
  /** Controls at the right of the tabs. */
  aside?: ReactNode;
  /** The panel of the chosen tab. */
  children: ReactNode;
}

/** Underlined tabs in one line, which scrolls where it does not fit. */
export function Tabs({ label, value, onChange, tabs, aside, children }: TabsProps) {
  return (
    <RadixTabs.Root
      value={value}
      onValueChange={onChange}
      className="flex min-h-0 flex-1 flex-col"
      activationMode="manual"
    >
      <div className="flex shrink-0 items-center gap-2 border-line border-b pr-2">
        <RadixTabs.List
          aria-label={label}
          className="no-scrollbar flex min-w-0 flex-1 gap-1 overflow-x-auto px-2"
        >
          {tabs.map((tab) => (
            <RadixTabs.Trigger
              key={tab.value}
              value={tab.value}
              className="-mb-px inline-flex h-9 shrink-0 items-center gap-1.5 border-transparent border-b-2 px-2 text-caption text-ink-soft outline-offset-[-3px] hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink pointer-coarse:h-11"
            >
              <Text>{tab.label}</Text>
              {tab.badge}
            </RadixTabs.Trigger>
          ))}
        </RadixTabs.List>
        {aside}
      </div>
      <RadixTabs.Content
        value={value}
        className="flex min-h-0 flex-1 flex-col outline-offset-[-3px]"
      >
        {children}
      </RadixTabs.Content>
    </RadixTabs.Root>
  );
}
