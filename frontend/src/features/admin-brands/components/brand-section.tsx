import { CsvExport } from "@/components/admin/csv-export";
import { CsvImport } from "@/components/admin/csv-import";
import type { Column } from "@/components/admin/data-table";
import type { FieldSpec } from "@/components/admin/entity-form";
import { EntitySection } from "@/components/admin/entity-section";
import { Thumbnail } from "@/components/admin/thumbnail";
import { picturePlaces } from "@/lib/admin-pictures";
import { formatDate } from "@/lib/format";
import { paths } from "@/lib/paths";
import { useAdminTable } from "@/lib/use-admin-table";
import { type Brand, brandSchema, readBrands, useDeleteBrand, useSaveBrand } from "../api/brands";

const columns: readonly Column<Brand>[] = [
  {
    header: "Id",
    className: "w-16 max-md:hidden",
    cell: ({ id }) => <code className="text-caption text-ink-soft">{id.slice(0, 4)}</code>,
  },
  {
    header: "Name",
    sort: "name",
    cell: ({ name, logo }) => (
      <span className="flex items-center gap-3">
        <Thumbnail url={logo} name={name} isLogo />
        <span className="font-medium [overflow-wrap:anywhere]">{name}</span>
      </span>
    ),
  },
  {
    header: "Created",
    sort: "created_at",
    className: "w-32 whitespace-nowrap tabular-nums max-sm:hidden",
    cell: ({ created_at }) => formatDate(created_at),
  },
];

const fields: readonly FieldSpec[] = [
  { kind: "text", name: "name", label: "Name", isRequired: true },
  { kind: "picture", name: "logo", label: "Logo", place: picturePlaces.brand },
  { kind: "long-text", name: "description", label: "Description" },
  { kind: "long-text", name: "meta_description", label: "Meta description" },
];

export function BrandSection() {
  const table = useAdminTable({
    section: "brands",
    read: readBrands,
    pageSize: 10,
    sort: "created_at",
    ascending: false,
  });
  const save = useSaveBrand();
  const remove = useDeleteBrand();
  return (
    <EntitySection
      title="Brands"
      noun="Brand"
      searchPlaceholder="Search brands..."
      table={table}
      columns={columns}
      files={
        <>
          <CsvImport target="brands" noun="brands" />
          <CsvExport
            table={table}
            target="brands"
            cellsOf={(brands) =>
              brands.map((brand) => ({
                name: brand.name,
                description: brand.description ?? "",
                metaDescription: brand.meta_description ?? "",
                logo: brand.logo ?? "",
              }))
            }
          />
        </>
      }
      empty="No brands found. Add your first brand."
      emptySearch={() => "No brands match your search"}
      fields={fields}
      schema={brandSchema}
      toValues={(brand) => ({
        name: brand?.name ?? "",
        logo: brand?.logo ?? "",
        description: brand?.description ?? "",
        meta_description: brand?.meta_description ?? "",
      })}
      listLink={{
        label: ({ name }) => `Items of ${name}`,
        to: ({ id }) => `${paths.admin("items")}?brand=${id}`,
      }}
      onSave={save.mutateAsync}
      onDelete={remove.mutateAsync}
      confirmation={() => "Are you sure you want to delete this brand?"}
    />
  );
}
