import { useQuery } from "@tanstack/react-query";
import { Field } from "@ui/field";
import type { FocusEvent } from "react";
import type { UseFormReturn } from "react-hook-form";
import { ChipField } from "@/components/admin/chip-field";
import { Select, TextArea } from "@/components/admin/controls";
import { Input } from "@/components/ui/input";
import { capitalise } from "@/lib/format";
import { genders } from "@/lib/genders";
import { colorsQuery } from "@/lib/vocabulary";
import type { ItemValues } from "../api/save-item";
import { QuickColor } from "./quick-create";

interface FieldsProps {
  form: UseFormReturn<ItemValues>;
}

/** Marks the element around the import of a product. */
export const productImportArea = { "data-product-import": true } as const;

/**
 * Whether the focus moves from a field to the import. The form opens with the focus in the name, which the import fills
 * in, so moving to the import must not show the error that the name is missing.
 */
function isGoingToImport({ relatedTarget }: FocusEvent): boolean {
  return (
    relatedTarget instanceof Element && relatedTarget.closest("[data-product-import]") !== null
  );
}

/** Name, price, the retailer's number and gender. */
export function MainFields({ form: { register, formState } }: FieldsProps) {
  const { errors } = formState;
  const name = register("name");
  return (
    <>
      <Field label="Name" error={errors.name?.message}>
        {(attributes) => (
          <Input
            aria-required
            {...attributes}
            {...name}
            onBlur={(event) => {
              if (!isGoingToImport(event)) void name.onBlur(event);
            }}
          />
        )}
      </Field>
      <div className="grid gap-5 sm:grid-cols-3">
        <Field label="Price ($)" error={errors.price?.message}>
          {(attributes) => (
            <Input
              type="number"
              min={0}
              step={0.01}
              inputMode="decimal"
              aria-required
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
    </>
  );
}

/** The shop's address and the texts. */
export function TextFields({ form: { register, formState } }: FieldsProps) {
  const { errors } = formState;
  return (
    <>
      <Field label="Source URL" error={errors.source_url?.message}>
        {(attributes) => <Input inputMode="url" {...attributes} {...register("source_url")} />}
      </Field>
      <Field label="Description" error={errors.description?.message}>
        {(attributes) => <TextArea {...attributes} {...register("description")} />}
      </Field>
      <Field label="Meta description" error={errors.meta_description?.message}>
        {(attributes) => <TextArea rows={2} {...attributes} {...register("meta_description")} />}
      </Field>
    </>
  );
}

interface ColorsFieldProps {
  label?: string;
  value: string[];
  onChange: (ids: string[]) => void;
}

export function ColorsField({ label = "Colors", value, onChange }: ColorsFieldProps) {
  const { data: colors } = useQuery(colorsQuery());
  return (
    <div>
      <ChipField
        label={label}
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
