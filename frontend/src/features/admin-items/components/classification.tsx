import { useQuery } from "@tanstack/react-query";
import { Field } from "@ui/field";
import { type UseFormReturn, useWatch } from "react-hook-form";
import { Choices, Select } from "@/components/admin/controls";
import { SearchableSelect } from "@/components/admin/searchable-select";
import { brandsQuery, categoriesQuery } from "@/lib/vocabulary";
import { subcategoriesOfQuery } from "../api/quick-create";
import type { ItemValues } from "../api/save-item";
import { QuickBrand, QuickSubcategory } from "./quick-create";

interface ClassificationProps {
  form: UseFormReturn<ItemValues>;
}

/** A choice marks the form as changed and removes the error immediately. */
const change = { shouldDirty: true, shouldValidate: true } as const;

/** Brand, category and subcategory. */
export function Classification({ form }: ClassificationProps) {
  const { control, setValue, formState } = form;
  const [brandId, categoryId] = useWatch({ control, name: ["brand_id", "category"] });
  const { data: brands } = useQuery(brandsQuery());
  const { data: categories } = useQuery(categoriesQuery());
  const { errors } = formState;
  return (
    <div className="grid gap-5 sm:grid-cols-3">
      <div>
        <Field label="Brand" error={errors.brand_id?.message}>
          {(attributes) => (
            <SearchableSelect
              {...attributes}
              aria-required
              prompt="Select a brand"
              rows={brands}
              value={brandId}
              onChange={(id) => setValue("brand_id", id, change)}
            />
          )}
        </Field>
        <QuickBrand onCreated={(id) => setValue("brand_id", id, change)} />
      </div>
      <Field label="Category" error={errors.category?.message}>
        {(attributes) => (
          <Select
            {...attributes}
            aria-required
            value={categoryId}
            onChange={(event) => {
              setValue("category", event.target.value, change);
              setValue("subcategory_id", "", change);
            }}
          >
            <Choices prompt="Select a category" rows={categories} chosen={categoryId} />
          </Select>
        )}
      </Field>
      <Subcategory form={form} categoryId={categoryId} />
    </div>
  );
}

/** A subcategory can be chosen only after a category. */
function Subcategory({ form, categoryId }: ClassificationProps & { categoryId: string }) {
  const { control, setValue, formState } = form;
  const subcategoryId = useWatch({ control, name: "subcategory_id" });
  const { data: subcategories } = useQuery({
    ...subcategoriesOfQuery(categoryId),
    enabled: categoryId !== "",
  });
  return (
    <div>
      <Field label="Subcategory" error={formState.errors.subcategory_id?.message}>
        {(attributes) => (
          <Select
            {...attributes}
            disabled={categoryId === ""}
            value={subcategoryId}
            onChange={(event) => setValue("subcategory_id", event.target.value, change)}
          >
            <Choices
              prompt={categoryId === "" ? "Please select a category first" : "None"}
              rows={subcategories}
              chosen={subcategoryId}
            />
          </Select>
        )}
      </Field>
      <QuickSubcategory
        categoryId={categoryId}
        onCreated={(id, parentId) => {
          if (parentId === form.getValues("category")) setValue("subcategory_id", id, change);
        }}
      />
    </div>
  );
}
