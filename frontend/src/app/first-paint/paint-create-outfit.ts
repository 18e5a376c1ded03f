import type { PickableItem } from "@/features/items/api/list-pickable-items";
import { itemPictureWidth } from "@/features/items/components/item-card-shape";
import {
  contentWidth,
  eagerPickerLines,
  emptyPickerArea,
  measurePicker,
  pickerBar,
  pickerGap,
  pickerPictureSizes,
} from "@/features/items/components/item-picker-shape";
import { readDraft } from "@/features/submissions/api/draft";
import { formatPrice } from "@/lib/format";
import { button, div, element, input, picture, sitePage, span } from "./elements";
import type { FirstView } from "./first-view";
import type { UserRows } from "./request-user-data";
import type { StoredSession } from "./stored-session";

/** The wizard without a draft: its first step, and the items when they have arrived. Null where the app has to read a draft. */
export function paintCreateOutfit({ user }: StoredSession, { items }: UserRows): FirstView | null {
  if (readDraft(user.id, null) !== null) return null;
  const area = div(`overflow-hidden ${emptyPickerArea}`);
  const page = sitePage(
    element("h1", "font-serif text-display", "Create Outfit"),
    steps(),
    filters(),
    div("mt-4", area),
    div(
      pickerBar,
      div(
        "flex items-center justify-between gap-4 md:mt-6",
        element("p", "text-ink-soft text-small", "Add at least 1 item to go on."),
        nextButton(),
      ),
    ),
  );
  async function complete(): Promise<void> {
    const rows = await items;
    if (rows !== null && rows.length > 0) area.append(cardGrid(area, rows));
  }
  return { page, complete };
}

function steps(): HTMLElement {
  const number = (text: string) => span("text-small tabular-nums", text);
  return div(
    "mt-4 mb-6 flex flex-wrap gap-x-8 gap-y-2",
    div(
      "flex items-baseline gap-2",
      number("1"),
      element("h2", "font-serif text-heading", "Select Items"),
    ),
    div(
      "flex items-baseline gap-2 text-ink-soft",
      number("2"),
      span("font-serif text-heading", "Review & Submit"),
    ),
  );
}

/** The outline of a search box or select. */
const box = "h-11 w-full rounded-full border border-line bg-surface text-small max-md:text-body";

function filters(): HTMLElement {
  const search = input(`pl-10 placeholder:text-ink-soft ${box}`, {
    placeholder: "Search items...",
  });
  const select = (text: string) =>
    element(
      "select",
      `appearance-none truncate pr-10 pl-4 text-ink max-md:hidden ${box}`,
      element("option", "", text),
    );
  return div(
    "grid grid-cols-2 gap-2 md:grid-cols-3 lg:grid-cols-[2fr_1fr_1fr_1fr]",
    div(
      "col-span-2 flex gap-2 md:col-span-3 lg:col-span-1",
      div("relative min-w-0 flex-1", search),
      span("size-11 shrink-0 rounded-full border border-line md:hidden"),
    ),
    select("All Categories"),
    select("All Brands"),
    select("All Colors"),
    div("col-span-full mt-1 max-md:hidden", genders()),
  );
}

function genders(): HTMLElement {
  const choice = "inline-flex h-11 items-center rounded-full border px-4 text-small";
  return div(
    "flex flex-wrap gap-2",
    ...["All", "Men", "Women", "Unisex"].map((label, index) =>
      span(
        `${choice} ${index === 0 ? "border-ink bg-ink text-canvas" : "border-line-strong/60 text-ink"}`,
        label,
      ),
    ),
  );
}

function nextButton(): HTMLElement {
  const next = button("Next", "primary", "lg");
  next.classList.add("opacity-50");
  return next;
}

/** The lines of cards that fit into the area. The area must be in the document, because its width decides about the columns. */
function cardGrid(area: HTMLElement, items: PickableItem[]): HTMLElement {
  const { columns, lineHeight } = measurePicker(contentWidth(area));
  const grid = div("grid", ...items.slice(0, columns * eagerPickerLines).map(card));
  grid.style.gap = `${pickerGap}px`;
  grid.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
  grid.style.gridAutoRows = `${lineHeight - pickerGap}px`;
  return grid;
}

function card({ image, image_color, name, price, brand }: PickableItem): HTMLElement {
  return div(
    "",
    picture({
      url: image,
      color: image_color,
      sizes: pickerPictureSizes,
      width: itemPictureWidth,
      className: "aspect-4/5 w-full rounded-md",
    }),
    element("p", "mt-2 truncate text-small", name),
    element(
      "p",
      "truncate text-caption text-ink-soft",
      span("text-ink tabular-nums", formatPrice(price)),
      " ",
      brand.name,
    ),
    span(
      "mt-1.5 inline-flex h-11 w-full items-center justify-center gap-2 rounded-full border border-line-strong/60 text-ink text-small",
      span("size-4"),
      "Add",
    ),
  );
}
