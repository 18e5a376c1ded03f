import { cn } from "@ui/cn";
import { isEscape } from "@ui/keys";
import { useSearchDraft } from "@ui/use-search-draft";
import { Search } from "lucide-react";
import { Input } from "@/components/input";

interface SearchInputProps {
  /** Accessible name, also shown while the field is empty. */
  label: string;
  value: string;
  /** Called when typing has paused. */
  onChange: (value: string) => void;
  className?: string;
}

const pauseMs = 200;

/** A search field. The key `/` focuses the search of the open screen; Escape empties it. */
export function SearchInput({ label, value, onChange, className }: SearchInputProps) {
  const { draft, change, clear } = useSearchDraft({ query: value, onSearch: onChange, pauseMs });
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
        value={draft}
        onChange={(event) => change(event.target.value)}
        onKeyDown={(event) => {
          if (!isEscape(event) || draft === "") return;
          event.stopPropagation();
          clear();
        }}
      />
    </span>
  );
}
