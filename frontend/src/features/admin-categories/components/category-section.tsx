import { useQuery } from "@tanstack/react-query";
import type { Column } from "@/components/admin/data-table";
import type { FieldSpec } from "@/components/admin/entity-form";
import { EntitySection } from "@/components/admin/entity-section";
import { Thumbnail } from "@/components/admin/thumbnail";
import { picturePlaces } from "@/lib/admin-pictures";
import { useAdminTable } from "@/lib/use-admin-table";
import {
  type Category,
  categorySchema,
  categoryUseQuery,
  readCategories,
  useDeleteCategory,
  useSaveCategory,
} from "../api/categories";

const columns: readonly Column<Category>[] = [
  { header: "Name", sort: "name", cell: ({ name }) => <b className="font-medium">{name}</b> },
  {
    header: "Icon",
    className: "w-24",
    cell: ({ icon, name }) => <Thumbnail url={icon} name={name} />,
  },
];

const fields: readonly FieldSpec[] = [
  { kind: "text", name: "name", label: "Name", isRequired: true },
  { kind: "picture", name: "icon", label: "Icon", place: picturePlaces.category },
];

export function CategorySection() {
  const table = useAdminTable({
    section: "categories",
    read: readCategories,
    pageSize: 50,
    sort: "name",
    ascending: true,
  });
  const save = useSaveCategory();
  const remove = useDeleteCategory();
  return (
    <EntitySection
      title="Categories"
      noun="Category"
      searchPlaceholder="Search categories..."
      table={table}
      columns={columns}
      empty="No categories found. Add your first category above."
      emptySearch={() => "No categories found"}
      fields={fields}
      schema={categorySchema}
      toValues={(category) => ({ name: category?.name ?? "", icon: category?.icon ?? "" })}
      onSave={save.mutateAsync}
      onDelete={remove.mutateAsync}
      confirmation={(category) => <DeletionConsequences categoryId={category.id} />}
    />
  );
}

function DeletionConsequences({ categoryId }: { categoryId: string }) {
  const { data: use } = useQuery(categoryUseQuery(categoryId));
  return (
    <>
      Are you sure you want to delete this category? This will also delete associated subcategories
      and may affect items.
      {use !== undefined && (
        <span className="mt-1.5 block font-medium text-ink">
          {use.subcategories === 1 ? "1 subcategory" : `${use.subcategories} subcategories`} will be
          deleted, and {use.items === 1 ? "1 item stays" : `${use.items} items stay`} without a
          category.
        </span>
      )}
    </>
  );
}
