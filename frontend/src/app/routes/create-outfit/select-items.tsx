import { useInfiniteQuery } from "@tanstack/react-query";
import { Button } from "@ui/button";
import { useState } from "react";
import { ErrorNotice } from "@/components/ui/error-notice";
import { type PickableItem, pickableItemsQuery } from "@/features/items/api/list-pickable-items";
import { ItemPicker, ItemPickerSkeleton } from "@/features/items/components/item-picker";
import { pickerBar } from "@/features/items/components/item-picker-shape";
import { type Draft, type PickedItem, selectableGenders } from "@/features/submissions/api/draft";
import { unfilteredSearch } from "@/lib/catalogue-search";
import { ChosenItems } from "./chosen-items";
import { GenderChoice } from "./gender-choice";
import { ItemFilters } from "./item-filters";
import { NoItemsFound } from "./no-items-found";
import type { WizardParams } from "./wizard-params";

interface SelectItemsProps {
  params: WizardParams;
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  onNext: () => void;
}

/** Step 1 of the wizard: items are searched, filtered and chosen. */
export function SelectItems({ params, draft, onChange, onNext }: SelectItemsProps) {
  const [announcement, setAnnouncement] = useState("");

  function setItems(items: PickedItem[], what: string) {
    onChange({ items });
    setAnnouncement(`${what}. ${countItems(items.length)} selected.`);
  }

  function toggle(item: PickableItem, chosen: boolean) {
    if (!chosen) return remove(item);
    const { brand: _, ...picked } = item;
    setItems([...draft.items, picked], `Added ${item.name}`);
  }

  function remove({ id, name }: { id: string; name: string }) {
    setItems(
      draft.items.filter((item) => item.id !== id),
      `Removed ${name}`,
    );
  }

  return (
    <>
      <ItemFilters params={params}>
        <GenderChoice draft={draft} onChange={onChange} />
      </ItemFilters>
      <p role="status" className="sr-only">
        {announcement}
      </p>
      <div className="relative mt-4">
        <button
          type="button"
          onClick={() => document.getElementById("selected-count")?.focus()}
          className="sr-only focus:not-sr-only focus:absolute focus:top-2 focus:left-2 focus:z-10 focus:rounded-full focus:bg-ink focus:px-4 focus:py-2 focus:text-canvas focus:text-small"
        >
          Skip the items
        </button>
        <AvailableItems params={params} draft={draft} onChange={onChange} onToggle={toggle} />
      </div>
      <div className={pickerBar}>
        {draft.items.length > 0 && (
          // Below the list: above it, each chip would push away what the pointer is on.
          <div className="mt-4 max-md:mt-0 max-md:mb-2">
            <ChosenItems items={draft.items} onRemove={remove} />
          </div>
        )}
        <div className="flex items-center justify-between gap-4 md:mt-6">
          <p id="selected-count" tabIndex={-1} className="text-ink-soft text-small">
            {draft.items.length === 0
              ? "Add at least 1 item to go on."
              : `${countItems(draft.items.length)} selected`}
          </p>
          <Button
            variant="primary"
            size="lg"
            disabled={draft.items.length === 0}
            aria-describedby="selected-count"
            onClick={onNext}
          >
            Next
          </Button>
        </div>
      </div>
    </>
  );
}

function countItems(count: number): string {
  return count === 1 ? "1 item" : `${count} items`;
}

interface AvailableItemsProps extends Pick<SelectItemsProps, "params" | "draft" | "onChange"> {
  onToggle: (item: PickableItem, chosen: boolean) => void;
}

function AvailableItems({ params, draft, onChange, onToggle }: AvailableItemsProps) {
  const list = useInfiniteQuery(
    pickableItemsQuery({
      ...unfilteredSearch,
      term: params.query,
      genders: selectableGenders(draft.gender),
      categories: params.category === "" ? [] : [params.category],
      brands: params.brand === "" ? [] : [params.brand],
      colors: params.color === "" ? [] : [params.color],
    }),
  );
  if (list.isPending) return <ItemPickerSkeleton />;
  if (list.data === undefined) {
    return (
      <ErrorNotice
        title="The items could not be loaded."
        error={list.error}
        onRetry={list.refetch}
      />
    );
  }
  if (list.data.length === 0) return <NoItemsFound {...{ params, draft, onChange, onToggle }} />;
  return (
    <>
      <ItemPicker
        items={list.data}
        list={list}
        label="Available items"
        busy={list.isPlaceholderData}
        chosenIds={new Set(draft.items.map(({ id }) => id))}
        onToggle={onToggle}
      />
      {list.isFetchNextPageError && (
        <p role="alert" className="mt-3 flex items-center gap-3 text-ink-soft text-small">
          More items could not be loaded.
          <Button onClick={() => list.fetchNextPage()}>Try again</Button>
        </p>
      )}
    </>
  );
}
