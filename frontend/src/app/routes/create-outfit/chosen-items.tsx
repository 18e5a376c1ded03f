import { X } from "lucide-react";
import { useRef } from "react";
import { Picture } from "@/components/ui/picture";
import { itemPictureWidth } from "@/features/items/components/item-card-shape";
import type { PickedItem } from "@/features/submissions/api/draft";

interface ChosenItemsProps {
  items: readonly PickedItem[];
  onRemove: (item: PickedItem) => void;
}

/** The chosen items as chips that take them out again, in one line on phones. */
export function ChosenItems({ items, onRemove }: ChosenItemsProps) {
  const list = useRef<HTMLUListElement>(null);

  function remove(item: PickedItem, index: number) {
    const buttons = list.current?.querySelectorAll("button");
    // The focus goes to a neighbour, since its own button disappears.
    (buttons?.[index + 1] ?? buttons?.[index - 1])?.focus();
    onRemove(item);
  }

  return (
    <ul
      ref={list}
      aria-label="Selected items"
      className="no-scrollbar flex gap-2 max-md:overflow-x-auto md:flex-wrap"
    >
      {items.map((item, index) => (
        <li
          key={item.id}
          className="inline-flex h-11 max-w-full shrink-0 items-center gap-2 rounded-full border border-line bg-surface pl-1 max-md:max-w-56"
        >
          <Picture
            url={item.image}
            alt=""
            sizes="36px"
            width={itemPictureWidth}
            height={itemPictureWidth}
            placeholderColor={item.image_color}
            className="size-9 shrink-0 rounded-full"
          />
          <span className="min-w-0 truncate text-small">{item.name}</span>
          <button
            type="button"
            aria-label={`Remove ${item.name}`}
            onClick={() => remove(item, index)}
            className="inline-flex size-11 shrink-0 items-center justify-center rounded-full text-ink-soft hover:bg-sheen hover:text-ink"
          >
            <X aria-hidden="true" className="size-4" />
          </button>
        </li>
      ))}
    </ul>
  );
}
