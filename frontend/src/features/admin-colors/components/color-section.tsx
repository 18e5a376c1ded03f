import { CsvImport } from "@/components/admin/csv-import";
import type { Column } from "@/components/admin/data-table";
import type { FieldSpec } from "@/components/admin/entity-form";
import { EntitySection } from "@/components/admin/entity-section";
import { useAdminTable } from "@/lib/use-admin-table";
import { type Color, colorSchema, readColors, useDeleteColor, useSaveColor } from "../api/colors";

const columns: readonly Column<Color>[] = [
  {
    header: "Name",
    sort: "name",
    cell: ({ name, hex_code }) => (
      <span className="flex min-h-9 items-center gap-3">
        <span
          aria-hidden="true"
          className="size-6 shrink-0 rounded-full border border-line"
          style={{ backgroundColor: hex_code }}
        />
        <span className="font-medium [overflow-wrap:anywhere]">{name}</span>
      </span>
    ),
  },
  { header: "Hex code", sort: "hex_code", cell: ({ hex_code }) => <code>{hex_code}</code> },
  {
    header: "Description",
    className: "max-md:hidden text-ink-soft",
    cell: ({ description }) => <span className="line-clamp-1">{description}</span>,
  },
];

const fields: readonly FieldSpec[] = [
  { kind: "text", name: "name", label: "Name", isRequired: true },
  {
    kind: "color",
    name: "hex_code",
    label: "Hex code",
    isRequired: true,
    hint: "# and six digits; of three, each is doubled",
  },
  { kind: "long-text", name: "description", label: "Description" },
  { kind: "long-text", name: "meta_description", label: "Meta description" },
];

export function ColorSection() {
  const table = useAdminTable({
    section: "colors",
    read: readColors,
    pageSize: 10,
    sort: "name",
    ascending: true,
  });
  const save = useSaveColor();
  const remove = useDeleteColor();
  return (
    <EntitySection
      title="Colors"
      noun="Color"
      searchPlaceholder="Search colors..."
      table={table}
      columns={columns}
      empty="No colors found"
      errorTitle={(message) => `Failed to fetch colors: ${message}`}
      emptySearch={(term) => `No colors found matching "${term}"`}
      files={<CsvImport target="colors" noun="colors" />}
      fields={fields}
      schema={colorSchema}
      toValues={(color) => ({
        name: color?.name ?? "",
        hex_code: color?.hex_code ?? "",
        description: color?.description ?? "",
        meta_description: color?.meta_description ?? "",
      })}
      onSave={save.mutateAsync}
      onDelete={remove.mutateAsync}
      confirmation={() =>
        "Are you sure you want to delete this color? Items and outfits will no longer list it."
      }
    />
  );
}
