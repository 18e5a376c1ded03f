import { cn } from "@ui/cn";
import { Search } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Input } from "@/components/input";
import { useDebounced } from "@/lib/use-debounced";

interface SearchInputProps {
  /** Accessible name, also shown while the field is empty. */
  label: string;
  value: string;
  /** Called when typing has paused. */
  onChange: (value: string) => void;
  className?: string;
}

/** A search field. The key `/` focuses the search of the open screen; Escape empties it. */
export function SearchInput({ label, value, onChange, className }: SearchInputProps) {
  const [text, setText] = useState(value);
  const [known, setKnown] = useState(value);
  // The address changed by other means, such as the back button or a removed chip.
  if (known !== value) {
    setKnown(value);
    if (text.trim() !== value) setText(value);
  }
  const settled = useDebounced(text);
  const report = useRef(onChange);
  useEffect(() => {
    report.current = onChange;
  });
  useEffect(() => {
    report.current(settled.trim());
  }, [settled]);
  return (
    <span className={cn("relative block", className)}>
      <Search
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-ink-soft"
      />
      <Input
        data-search
        type="search"
        aria-label={label}
        placeholder={label}
        className="pl-8"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || text === "") return;
          event.stopPropagation();
          setText("");
        }}
      />
    </span>
  );
}
