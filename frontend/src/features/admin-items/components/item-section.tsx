import { useQuery } from "@tanstack/react-query";
import { ExternalLink, Pencil, Trash2 } from "lucide-react";
import { useState } from "react";
import { ConfirmDialog } from "@/components/admin/confirm-dialog";
import { Choices, Select } from "@/components/admin/controls";
import { type Column, DataTable } from "@/components/admin/data-table";
import { Pagination } from "@/components/admin/pagination";
import { RowButton, RowLink } from "@/components/admin/row-button";
import { SectionPage } from "@/components/admin/section-page";
import { Thumbnail } from "@/components/admin/thumbnail";
import { capitalise, formatDate, formatExactPrice } from "@/lib/format";
import { paths } from "@/lib/paths";
import { type AdminTable, useAdminTable } from "@/lib/use-admin-table";
import { useOpenRow } from "@/lib/use-open-row";
import { brandsQuery, categoriesQuery } from "@/lib/vocabulary";
import { type AdminItem, itemUseQuery, lacks, readItems, useDeleteItem } from "../api/items";
import { ItemForm } from "./item-form";

const filters = ["brand", "category", "without"];

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
  const remove = useDeleteItem();
  const actions: Column<AdminItem> = {
    header: "Actions",
    className: "w-24 text-right whitespace-nowrap",
    cell: (item) => (
      <>
        <span className="max-md:hidden">
          <RowLink label={`Page of ${item.name}`} to={paths.item(item.slug)}>
            <ExternalLink aria-hidden="true" />
          </RowLink>
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
      onAdd={opened.openNew}
      controls={<ItemFilters table={table} />}
    >
      <DataTable
        label="Items"
        table={table}
        columns={[...columns, actions]}
        empty={
          table.isNarrowed
            ? "No item matches your search and filters."
            : "No items found. Add your first item above."
        }
        onOpen={opened.open}
      />
      <Pagination table={table} noun="items" links={pageLinks} />
      {(opened.isNew || opened.row !== null) && (
        <ItemForm item={opened.row} onClose={opened.close} />
      )}
      {deleting !== null && (
        <ConfirmDialog
          title={`Delete ${deleting.name}?`}
          text={<DeletionText item={deleting} />}
          action="Delete"
          pending={remove.isPending}
          onConfirm={() => remove.mutate(deleting, { onSettled: () => setDeleting(null) })}
          onCancel={() => setDeleting(null)}
        />
      )}
    </SectionPage>
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
