import { useQuery } from "@tanstack/react-query";
import { Field } from "@ui/field";
import { isEnter } from "@ui/keys";
import { ArrowUp, Plus, X } from "lucide-react";
import { type ReactNode, useDeferredValue, useState } from "react";
import { RowButton } from "@/components/admin/row-button";
import { Thumbnail } from "@/components/admin/thumbnail";
import { Input } from "@/components/ui/input";
import { type ItemChoice, itemChoicesQuery, itemsByIdQuery } from "@/lib/admin-items";
import type { Gender } from "@/lib/database";

interface ItemPickerProps {
  gender: Gender;
  /** Ids of the chosen items, in the order of display. */
  chosen: readonly string[];
  onChange: (ids: string[]) => void;
}

/** Chooses the items of an outfit: those that fit its gender, by name or retailer's number. */
export function ItemPicker({ gender, chosen, onChange }: ItemPickerProps) {
  const [draft, setDraft] = useState("");
  const term = useDeferredValue(draft.trim());
  const { data: items } = useQuery(itemsByIdQuery(chosen));
  const choices = useQuery(itemChoicesQuery(gender, term));
  const offered = choices.data?.filter(({ id }) => !chosen.includes(id));

  function moveUp(index: number) {
    const ids = [...chosen];
    const [moved] = ids.splice(index, 1);
    if (moved !== undefined) ids.splice(index - 1, 0, moved);
    onChange(ids);
  }

  return (
    <fieldset>
      <legend className="mb-1.5 font-medium text-small">Items ({chosen.length})</legend>
      <ul aria-label="Chosen items" className="mb-3 flex flex-col gap-1">
        {items
          ?.filter(({ id }) => chosen.includes(id))
          .map((item, index) => (
            <ItemRow key={item.id} item={item}>
              {index > 0 && (
                <RowButton label={`Move ${item.name} up`} onClick={() => moveUp(index)}>
                  <ArrowUp aria-hidden="true" />
                </RowButton>
              )}
              <RowButton
                label={`Remove ${item.name}`}
                onClick={() => onChange(chosen.filter((id) => id !== item.id))}
              >
                <X aria-hidden="true" />
              </RowButton>
            </ItemRow>
          ))}
      </ul>
      <Field label="Search items">
        {(attributes) => (
          <Input
            type="search"
            placeholder="Name or product ID"
            value={draft}
            onChange={(event) => setDraft(event.target.value)}
            // Enter would submit the form around it.
            onKeyDown={(event) => {
              if (isEnter(event)) event.preventDefault();
            }}
            {...attributes}
          />
        )}
      </Field>
      {choices.isError && (
        <p role="alert" className="mt-2 text-danger text-small">
          The items could not be loaded.
        </p>
      )}
      {offered?.length === 0 && <p className="mt-2 text-ink-soft text-small">No items found</p>}
      <ul
        aria-label="Items to add"
        className="mt-2 flex max-h-72 flex-col gap-1 overflow-y-auto overscroll-contain"
      >
        {offered?.map((item) => (
          <ItemRow key={item.id} item={item}>
            <RowButton label={`Add ${item.name}`} onClick={() => onChange([...chosen, item.id])}>
              <Plus aria-hidden="true" />
            </RowButton>
          </ItemRow>
        ))}
      </ul>
    </fieldset>
  );
}

function ItemRow({ item, children }: { item: ItemChoice; children: ReactNode }) {
  return (
    <li className="flex items-center gap-3 rounded-md border border-line bg-surface py-1 pr-1 pl-1.5 text-small">
      <Thumbnail url={item.image} name={item.name} />
      <span className="min-w-0 flex-1">
        <span className="block truncate">{item.name}</span>
        <span className="block truncate text-caption text-ink-soft">{item.brand.name}</span>
      </span>
      {children}
    </li>
  );
}
