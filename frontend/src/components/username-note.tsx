import { Spinner } from "@ui/spinner";
import { Check } from "lucide-react";
import type { UsernameAvailability } from "@/lib/username-availability";

interface UsernameNoteProps extends UsernameAvailability {
  username: string;
  onChoose: (suggestion: string) => void;
}

/** Text under a username field: whether the name is available, and suggestions if it is taken. */
export function UsernameNote({ state, suggestions, username, onChoose }: UsernameNoteProps) {
  if (state === "checking") {
    return (
      <span className="inline-flex items-center gap-2">
        <Spinner size="sm" /> Checking availability...
      </span>
    );
  }
  if (state === "available") {
    return (
      <span className="inline-flex items-center gap-1.5 text-success">
        <Check aria-hidden="true" className="size-4" />
        {window.location.host}/{username} is available.
      </span>
    );
  }
  if (state === "taken") {
    return (
      <>
        <span className="text-danger">
          Username not available: Please choose a different username.
        </span>
        {suggestions.length > 0 && (
          <span className="mt-2 flex flex-wrap gap-2">
            {suggestions.map((suggestion) => (
              <button
                key={suggestion}
                type="button"
                onClick={() => onChoose(suggestion)}
                className="inline-flex h-11 items-center rounded-full border border-line-strong/60 px-4 text-ink text-small hover:border-ink"
              >
                {suggestion}
              </button>
            ))}
          </span>
        )}
      </>
    );
  }
  return (
    <>
      Your page will be {window.location.host}/{username || "username"}
    </>
  );
}
