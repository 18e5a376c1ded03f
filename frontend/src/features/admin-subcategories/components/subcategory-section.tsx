import { useQuery } from "@tanstack/react-query";
import { Choices, Select } from "@/components/admin/controls";
import type { Column } from "@/components/admin/data-table";
import { EntitySection } from "@/components/admin/entity-section";
import { useAdminTable } from "@/lib/use-admin-table";
import { categoriesQuery } from "@/lib/vocabulary";
import {
  readSubcategories,
  type Subcategory,
  subcategorySchema,
  useDeleteSubcategory,
  useSaveSubcategory,
} from "../api/subcategories";

const columns: readonly Column<Subcategory>[] = [
  { header: "Name", sort: "name", cell: ({ name }) => <b className="font-medium">{name}</b> },
  { header: "Category", cell: ({ category }) => category.name },
];

const filters = ["category"];

export function SubcategorySection() {
  const table = useAdminTable({
    section: "subcategories",
    read: readSubcategories,
    pageSize: 50,
    sort: "name",
    ascending: true,
    filters,
  });
  const { data: categories } = useQuery(categoriesQuery());
  const save = useSaveSubcategory();
  const remove = useDeleteSubcategory();
  const chosen = table.request.filters.category ?? "";
  return (
    <EntitySection
      title="Subcategories"
      noun="Subcategory"
      searchPlaceholder="Search subcategories..."
      table={table}
      columns={columns}
      empty={
        chosen === ""
          ? "No subcategories found. Add your first subcategory above."
          : "No subcategories available for this category"
      }
      emptySearch={() => "No subcategories match your search"}
      fields={[
        { kind: "text", name: "name", label: "Name", isRequired: true },
        {
          kind: "choice",
          name: "category_id",
          label: "Category",
          isRequired: true,
          prompt: "Select a category",
          options: categories,
        },
      ]}
      schema={subcategorySchema}
      toValues={(subcategory) => ({
        name: subcategory?.name ?? "",
        category_id: subcategory?.category_id ?? chosen,
      })}
      onSave={save.mutateAsync}
      onDelete={remove.mutateAsync}
      confirmation={() =>
        "Are you sure you want to delete this subcategory? This may affect items using this subcategory."
      }
      controls={
        <Select
          aria-label="Category"
          value={chosen}
          onChange={(event) => table.setFilter("category", event.target.value)}
          isFilter
        >
          <Choices prompt="All categories" rows={categories} chosen={chosen} />
        </Select>
      }
    />
  );
}
