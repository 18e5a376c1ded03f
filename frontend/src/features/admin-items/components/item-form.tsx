import { zodResolver } from "@hookform/resolvers/zod";
import { useQuery } from "@tanstack/react-query";
import { Controller, useForm, useWatch } from "react-hook-form";
import { ChipField } from "@/components/admin/chip-field";
import { Select, TextArea } from "@/components/admin/controls";
import { EditDialog } from "@/components/admin/edit-dialog";
import { FormFooter } from "@/components/admin/form-footer";
import { PictureField } from "@/components/admin/picture-field";
import { useFormPictures } from "@/components/admin/use-form-pictures";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { picturePlaces } from "@/lib/admin-pictures";
import { capitalise } from "@/lib/format";
import { genders } from "@/lib/genders";
import { brandsQuery, categoriesQuery, colorsQuery, type NamedRow } from "@/lib/vocabulary";
import type { AdminItem } from "../api/items";
import { subcategoriesOfQuery } from "../api/quick-create";
import { type ItemValues, itemSchema, toItemValues, useSaveItem } from "../api/save-item";
import { QuickBrand, QuickColor, QuickSubcategory } from "./quick-create";

interface ItemFormProps {
  /** Null for a new item. */
  item: AdminItem | null;
  onClose: () => void;
}

export function ItemForm({ item, onClose }: ItemFormProps) {
  const save = useSaveItem();
  const pictures = useFormPictures([item?.image]);
  const form = useForm<ItemValues>({
    resolver: zodResolver(itemSchema),
    mode: "onTouched",
    defaultValues: toItemValues(item),
  });
  const { control, register, formState } = form;
  const { errors } = formState;

  const submit = form.handleSubmit((values) =>
    save
      .mutateAsync({ id: item?.id ?? null, values })
      .then(() => {
        pictures.keepOnly([values.image]);
        onClose();
      })
      // The mutation has shown the reason in a toast; the form stays open.
      .catch(() => undefined),
  );

  function cancel() {
    pictures.discardUploads();
    onClose();
  }

  return (
    <EditDialog
      title={item === null ? "Add Item" : "Edit Item"}
      isDirty={formState.isDirty}
      wide
      onClose={cancel}
    >
      <form noValidate onSubmit={submit} className="flex flex-1 flex-col gap-5">
        <Field label="Name" error={errors.name?.message}>
          {(attributes) => <Input {...attributes} {...register("name")} />}
        </Field>
        <div className="grid gap-5 sm:grid-cols-3">
          <Field label="Price ($)" error={errors.price?.message}>
            {(attributes) => (
              <Input
                type="number"
                min={0}
                step={0.01}
                inputMode="decimal"
                {...attributes}
                {...register("price")}
              />
            )}
          </Field>
          <Field label="Product ID" error={errors.product_id?.message}>
            {(attributes) => (
              <Input inputMode="numeric" {...attributes} {...register("product_id")} />
            )}
          </Field>
          <Field label="Gender" error={errors.gender?.message}>
            {(attributes) => (
              <Select {...attributes} {...register("gender")}>
                {genders.map((one) => (
                  <option key={one} value={one}>
                    {capitalise(one)}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </div>
        <Classification form={form} />
        <Controller
          control={control}
          name="image"
          render={({ field, fieldState }) => (
            <PictureField
              label="Image"
              place={picturePlaces.item}
              value={field.value}
              error={fieldState.error?.message}
              onChange={field.onChange}
              onBlur={field.onBlur}
              onUploaded={pictures.rememberUpload}
            />
          )}
        />
        <Field label="Source URL" error={errors.source_url?.message}>
          {(attributes) => <Input inputMode="url" {...attributes} {...register("source_url")} />}
        </Field>
        <Field label="Description" error={errors.description?.message}>
          {(attributes) => <TextArea {...attributes} {...register("description")} />}
        </Field>
        <Field label="Meta description" error={errors.meta_description?.message}>
          {(attributes) => <TextArea rows={2} {...attributes} {...register("meta_description")} />}
        </Field>
        <Controller control={control} name="colors" render={({ field }) => <Colors {...field} />} />
        <FormFooter pending={formState.isSubmitting} onCancel={cancel} />
      </form>
    </EditDialog>
  );
}

/** Brand, category and subcategory. A subcategory can be chosen only after a category. */
function Classification({ form }: { form: ReturnType<typeof useForm<ItemValues>> }) {
  const { control, setValue, formState } = form;
  const [brandId, categoryId, subcategoryId] = useWatch({
    control,
    name: ["brand_id", "category", "subcategory_id"],
  });
  const { data: brands } = useQuery(brandsQuery());
  const { data: categories } = useQuery(categoriesQuery());
  const { data: subcategories } = useQuery({
    ...subcategoriesOfQuery(categoryId),
    enabled: categoryId !== "",
  });
  const { errors } = formState;
  const change = { shouldDirty: true, shouldValidate: true } as const;
  return (
    <div className="grid gap-5 sm:grid-cols-3">
      <div>
        <Field label="Brand" error={errors.brand_id?.message}>
          {(attributes) => (
            <Select
              {...attributes}
              value={brandId}
              onChange={(event) => setValue("brand_id", event.target.value, change)}
            >
              <Choices prompt="Select a brand" rows={brands} />
            </Select>
          )}
        </Field>
        <QuickBrand onCreated={(id) => setValue("brand_id", id, change)} />
      </div>
      <Field label="Category" error={errors.category?.message}>
        {(attributes) => (
          <Select
            {...attributes}
            value={categoryId}
            onChange={(event) => {
              setValue("category", event.target.value, change);
              setValue("subcategory_id", "", change);
            }}
          >
            <Choices prompt="Select a category" rows={categories} />
          </Select>
        )}
      </Field>
      <div>
        <Field label="Subcategory" error={errors.subcategory_id?.message}>
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
              />
            </Select>
          )}
        </Field>
        <QuickSubcategory
          categoryId={categoryId}
          onCreated={(id) => setValue("subcategory_id", id, change)}
        />
      </div>
    </div>
  );
}

function Choices({ prompt, rows }: { prompt: string; rows: readonly NamedRow[] | undefined }) {
  return (
    <>
      <option value="">{prompt}</option>
      {rows?.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </>
  );
}

interface ColorsProps {
  value: string[];
  onChange: (ids: string[]) => void;
}

function Colors({ value, onChange }: ColorsProps) {
  const { data: colors } = useQuery(colorsQuery());
  return (
    <div>
      <ChipField
        label="Colors"
        chips={
          colors &&
          [...colors.values()].map(({ id, name, hex_code }) => ({ id, name, hexCode: hex_code }))
        }
        loadingText="Loading colors..."
        chosen={value}
        onChange={onChange}
      />
      <QuickColor onCreated={(id) => onChange([...value, id])} />
    </div>
  );
}
