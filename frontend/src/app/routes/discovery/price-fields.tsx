import { isEnter } from "@ui/keys";
import { useOnLeave } from "@ui/use-on-leave";
import { useId, useState } from "react";
import type { DiscoveryParams } from "./discovery-params";

interface PriceFieldsProps {
  /** US dollars. */
  minPrice: number | null;
  maxPrice: number | null;
  onChange: (change: Pick<DiscoveryParams, "minPrice" | "maxPrice">) => void;
}

/** Digits as a price; null for anything else. */
function parsePrice(text: string): number | null {
  return /^\d{1,7}$/.test(text.trim()) ? Number(text.trim()) : null;
}

/** Range of prices in whole dollars. Applied on Enter and when a field is left. */
export function PriceFields({ minPrice, maxPrice, onChange }: PriceFieldsProps) {
  const titleId = useId();
  const errorId = useId();
  const [min, setMin] = useState(minPrice?.toString() ?? "");
  const [max, setMax] = useState(maxPrice?.toString() ?? "");
  const [applied, setApplied] = useState({ minPrice, maxPrice });
  const [low, high] = [parsePrice(min), parsePrice(max)];
  const isReversed = low !== null && high !== null && low > high;

  // A link, the back button or a removed filter changed the address: it replaces what was typed.
  if (applied.minPrice !== minPrice || applied.maxPrice !== maxPrice) {
    setApplied({ minPrice, maxPrice });
    // A field whose price did not change may hold something that is not applied yet.
    if (applied.minPrice !== minPrice && minPrice !== low) setMin(minPrice?.toString() ?? "");
    if (applied.maxPrice !== maxPrice && maxPrice !== high) setMax(maxPrice?.toString() ?? "");
  }

  function apply() {
    if (isReversed || (low === minPrice && high === maxPrice)) return;
    onChange({ minPrice: low, maxPrice: high });
  }
  useOnLeave(apply);

  const field = (label: string, value: string, change: (value: string) => void) => (
    <label className="flex-1">
      <span className="sr-only">{label}</span>
      <span className="relative block">
        <span
          aria-hidden="true"
          className="absolute top-1/2 left-3.5 -translate-y-1/2 text-ink-soft text-small"
        >
          $
        </span>
        <input
          inputMode="numeric"
          value={value}
          placeholder={label}
          maxLength={7}
          aria-invalid={isReversed || undefined}
          aria-describedby={isReversed ? errorId : undefined}
          onChange={(event) => change(event.target.value.replace(/\D/g, ""))}
          onBlur={apply}
          onKeyDown={(event) => {
            if (isEnter(event)) apply();
          }}
          className="h-11 w-full rounded-md border border-line-strong/70 bg-canvas pr-3 pl-7 text-ink text-small tabular-nums placeholder:text-ink-soft hover:border-line-strong focus:border-ink aria-invalid:border-danger max-md:text-body"
        />
      </span>
    </label>
  );

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset's legend cannot be laid out in a grid.
    <div role="group" aria-labelledby={titleId}>
      <h2 id={titleId} className="mb-2.5 text-ink-soft text-small">
        Price
      </h2>
      <div className="flex max-w-xs items-center gap-3">
        {field("Lowest price", min, setMin)}
        <span aria-hidden="true" className="text-ink-soft">
          –
        </span>
        {field("Highest price", max, setMax)}
      </div>
      {isReversed && (
        <p id={errorId} className="mt-2 text-caption text-danger">
          The lowest price is above the highest.
        </p>
      )}
    </div>
  );
}
