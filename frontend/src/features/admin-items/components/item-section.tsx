import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Copy, ExternalLink, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { ConfirmDialog } from "@/components/admin/confirm-dialog";
import { Choices, Select } from "@/components/admin/controls";
import { CsvExport } from "@/components/admin/csv-export";
import { CsvImport } from "@/components/admin/csv-import";
import { type Column, DataTable } from "@/components/admin/data-table";
import { GenderFilter } from "@/components/admin/gender-filter";
import { Pagination } from "@/components/admin/pagination";
import { RowButton, RowLink } from "@/components/admin/row-button";
import { SectionPage } from "@/components/admin/section-page";
import { Thumbnail } from "@/components/admin/thumbnail";
import { type Ticked, useTicked } from "@/components/admin/use-ticked";
import type { CsvRow } from "@/lib/csv";
import { capitalise, formatDate, formatExactPrice } from "@/lib/format";
import { paths } from "@/lib/paths";
import { type AdminTable, useAdminTable } from "@/lib/use-admin-table";
import { useOpenRow } from "@/lib/use-open-row";
import { brandsQuery, categoriesQuery, colorsQuery } from "@/lib/vocabulary";
import { type AdminItem, itemUseQuery, lacks, readItems, useDeleteItem } from "../api/items";
import { type ItemValues, toItemValues } from "../api/save-item";
import { ItemForm } from "./item-form";
import { TickedItems } from "./ticked-items";

const filters = ["brand", "category", "gender", "without"];

/** Page numbers shown at a time. */
const pageLinks = 5;

const columns: readonly Column<AdminItem>[] = [
  {
    header: "Name",
    sort: "name",
    cell: ({ name, image, brand }) => (
      <span className="flex items-center gap-3">
        <Thumbnail url={image} name={name} />
        <span className="min-w-0">
          <span className="block font-medium [overflow-wrap:anywhere]">{name}</span>
          <span className="block text-caption text-ink-soft md:hidden">{brand.name}</span>
        </span>
      </span>
    ),
  },
  {
    header: "Product ID",
    className: "max-xl:hidden tabular-nums text-ink-soft",
    cell: ({ product_id }) => product_id,
  },
  { header: "Brand", className: "max-md:hidden", cell: ({ brand }) => brand.name },
  {
    header: "Category",
    className: "max-lg:hidden",
    cell: ({ category }) => category?.name ?? "None",
  },
  {
    header: "Gender",
    className: "max-xl:hidden",
    cell: ({ gender }) => capitalise(gender),
  },
  {
    header: "Price",
    sort: "price",
    className: "text-right tabular-nums max-sm:hidden",
    cell: ({ price }) => formatExactPrice(price),
  },
  {
    header: "Created",
    sort: "created_at",
    className: "max-lg:hidden w-28 whitespace-nowrap tabular-nums text-ink-soft",
    cell: ({ created_at }) => formatDate(created_at),
  },
];

/** Items of the catalogue. */
export function ItemSection() {
  const table = useAdminTable({
    section: "items",
    read: readItems,
    pageSize: 10,
    sort: "created_at",
    ascending: false,
    filters,
  });
  const opened = useOpenRow(table, "Item");
  const [deleting, setDeleting] = useState<AdminItem | null>(null);
  const ticked = useTicked<AdminItem>();
  const next = useNextItem(opened.openNew);
  const actions: Column<AdminItem> = {
    header: "Actions",
    className: "w-32 text-right whitespace-nowrap",
    cell: (item) => (
      <>
        <span className="max-md:hidden">
          <RowLink label={`Page of ${item.name}`} to={paths.item(item.slug)}>
            <ExternalLink aria-hidden="true" />
          </RowLink>
        </span>
        <span className="max-md:hidden">
          <RowButton label={`Duplicate ${item.name}`} onClick={() => next.begin(copyOf(item))}>
            <Copy aria-hidden="true" />
          </RowButton>
        </span>
        <RowButton label={`Edit ${item.name}`} onClick={() => opened.open(item)}>
          <Pencil aria-hidden="true" />
        </RowButton>
        <RowButton label={`Delete ${item.name}`} onClick={() => setDeleting(item)}>
          <Trash2 aria-hidden="true" />
        </RowButton>
      </>
    ),
  };
  return (
    <SectionPage
      title="Items"
      query={table.request.term}
      onSearch={table.search}
      searchPlaceholder="Search by name or product ID..."
      addLabel="Add Item"
      onAdd={() => next.begin()}
      files={
        <>
          <CsvImport target="items" noun="items" />
          <ItemExport table={table} />
        </>
      }
      controls={<ItemFilters table={table} />}
    >
      <TickedItems ticked={ticked} />
      <DataTable
        label="Items"
        table={table}
        columns={[tickColumn(ticked, table.rows ?? []), ...columns, actions]}
        onSelect={ticked.toggle}
        empty={
          table.isNarrowed
            ? "No item matches your search and filters."
            : "No items found. Add your first item above."
        }
        onOpen={opened.open}
      />
      <Pagination table={table} noun="items" links={pageLinks} />
      {(opened.isNew || opened.row !== null) && (
        <ItemForm
          key={opened.row?.id ?? next.number}
          item={opened.row}
          start={next.start}
          onClose={opened.close}
          onAnother={({ brand_id, category, subcategory_id, gender }) =>
            next.begin({ brand_id, category, subcategory_id, gender })
          }
        />
      )}
      {deleting !== null && (
        <DeleteItem
          item={deleting}
          onDeleted={() => {
            if (ticked.has(deleting.id)) ticked.toggle(deleting);
          }}
          onClose={() => setDeleting(null)}
        />
      )}
    </SectionPage>
  );
}

/** The form of a new item: what it begins with, and which one in a row it is. */
function useNextItem(openNew: () => void) {
  const [{ start, number }, setNext] = useState<{ start?: Partial<ItemValues>; number: number }>({
    number: 0,
  });
  return {
    start,
    number,
    begin: (values?: Partial<ItemValues>) => {
      setNext((before) => ({ ...(values && { start: values }), number: before.number + 1 }));
      openNew();
    },
  };
}

/** What a copy of an item begins with. The retailer's number belongs to one item alone. */
function copyOf(item: AdminItem): Partial<ItemValues> {
  return { ...toItemValues(item), product_id: "" };
}

/** Ticks items; its header ticks all of the page. */
function tickColumn(ticked: Ticked<AdminItem>, rows: readonly AdminItem[]): Column<AdminItem> {
  return {
    header: "Select",
    headerCell: (
      <input
        type="checkbox"
        aria-label="Select all of the page"
        checked={rows.length > 0 && rows.every(({ id }) => ticked.has(id))}
        onChange={() => ticked.toggleAll(rows)}
        className="tick"
      />
    ),
    className: "w-8 pr-0! max-sm:hidden",
    cell: (item) => (
      <input
        type="checkbox"
        aria-label={`Select ${item.name}`}
        checked={ticked.has(item.id)}
        onChange={() => ticked.toggle(item)}
        className="tick"
      />
    ),
  };
}

interface DeleteItemProps {
  item: AdminItem;
  onDeleted: () => void;
  onClose: () => void;
}

/** A question of its own for each item, so that the answer about one closes no other. */
function DeleteItem({ item, onDeleted, onClose }: DeleteItemProps) {
  const remove = useDeleteItem();
  return (
    <ConfirmDialog
      title={`Delete ${item.name}?`}
      text={<DeletionText item={item} />}
      action="Delete"
      pending={remove.isPending}
      onConfirm={() => remove.mutate(item, { onSuccess: onDeleted, onSettled: onClose })}
      onCancel={onClose}
    />
  );
}

/** The question before an item is deleted, with the number of outfits that lose it. */
function DeletionText({ item }: { item: AdminItem }) {
  const { data: count } = useQuery(itemUseQuery(item.id));
  const outfits = count === 1 ? "1 outfit" : `${count ?? "…"} outfits`;
  return (
    <>
      Are you sure you want to delete this item?{" "}
      {count === 0 ? "It is in no outfit." : `It is taken out of ${outfits}.`}
    </>
  );
}

/** The file has names where rows have ids. */
function ItemExport({ table }: { table: AdminTable<AdminItem> }) {
  const queryClient = useQueryClient();

  async function cellsOf(items: readonly AdminItem[]): Promise<CsvRow[]> {
    // Read now: colors that were made since the list of them was read would be left out. Those that are deleted are in no item.
    const colors = await queryClient.fetchQuery({ ...colorsQuery(), staleTime: 0 });
    const names = new Map(colors.map(({ id, name }) => [id, name]));
    return items.map((item) => ({
      name: item.name,
      productId: item.product_id?.toString() ?? "",
      price: item.price.toFixed(2),
      brand: item.brand.name,
      category: item.category?.name ?? "",
      subcategory: item.subcategory?.name ?? "",
      gender: item.gender,
      colors: item.colors.flatMap((id) => names.get(id) ?? []).join("; "),
      sourceUrl: item.source_url ?? "",
      image: item.image ?? "",
      description: item.description ?? "",
      metaDescription: item.meta_description ?? "",
    }));
  }

  return <CsvExport table={table} target="items" cellsOf={cellsOf} />;
}

function ItemFilters({ table }: { table: AdminTable<AdminItem> }) {
  const { data: brands } = useQuery(brandsQuery());
  const { data: categories } = useQuery(categoriesQuery());
  const choices = [
    { name: "brand", label: "Brand", all: "All brands", rows: brands },
    { name: "category", label: "Category", all: "All categories", rows: categories },
  ];
  const selects = choices.map(({ name, label, all, rows }) => (
    <Select
      key={name}
      isFilter
      aria-label={label}
      value={table.request.filters[name] ?? ""}
      onChange={(event) => table.setFilter(name, event.target.value)}
    >
      <Choices prompt={all} rows={rows} chosen={table.request.filters[name] ?? ""} />
    </Select>
  ));
  return (
    <>
      {selects}
      <GenderFilter table={table} />
      <Select
        isFilter
        aria-label="What is missing"
        value={table.request.filters.without ?? ""}
        onChange={(event) => table.setFilter("without", event.target.value)}
      >
        <option value="">Complete or not</option>
        {lacks.map((one) => (
          <option key={one} value={one}>
            Without {one}
          </option>
        ))}
      </Select>
    </>
  );
}
