import { cn } from "@ui/cn";
import { useEffect, useRef } from "react";
import * as Tabs from "./tabs";

interface TabListProps {
  /** Accessible name of the list. */
  label: string;
  tabs: readonly { value: string; label: string }[];
  className?: string;
}

/**
 * Underlined tabs in one line, which is swiped where it does not fit. To be rendered inside `Tabs.Root`. All have one weight: a bolder
 * word would push those after it away when it is chosen.
 */
export function TabList({ label, tabs, className }: TabListProps) {
  const list = useRef<HTMLDivElement>(null);
  // An address may open a tab beyond the edge of a phone's screen.
  useEffect(() => {
    const active = list.current?.querySelector('[data-state="active"]');
    active?.scrollIntoView({ block: "nearest", inline: "center" });
  }, []);
  return (
    <Tabs.List
      ref={list}
      aria-label={label}
      className={cn(
        "no-scrollbar flex gap-7 overflow-x-auto overflow-y-hidden border-line border-b max-md:-mx-4 max-md:gap-6 max-md:px-4",
        className,
      )}
    >
      {tabs.map((tab) => (
        <Tabs.Trigger
          key={tab.value}
          value={tab.value}
          // Selected by a link or the keyboard, it may lie outside of the visible part of the line.
          onFocus={(event) =>
            event.currentTarget.scrollIntoView({ block: "nearest", inline: "nearest" })
          }
          className="-mb-px inline-flex h-12 min-w-11 shrink-0 items-center justify-center whitespace-nowrap border-transparent border-b-2 font-medium text-body text-ink-soft outline-offset-[-3px] transition-colors hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
        >
          {tab.label}
        </Tabs.Trigger>
      ))}
    </Tabs.List>
  );
}
