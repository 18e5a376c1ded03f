import { useQuery } from "@tanstack/react-query";
import { Field } from "@ui/field";
import { Controller, type UseFormReturn } from "react-hook-form";
import { ChipField } from "@/components/admin/chip-field";
import { Select, TextArea } from "@/components/admin/controls";
import { PictureField } from "@/components/admin/picture-field";
import { Input } from "@/components/ui/input";
import { picturePlaces } from "@/lib/admin-pictures";
import type { Gender } from "@/lib/database";
import { capitalise } from "@/lib/format";
import { genders } from "@/lib/genders";
import { colorsQuery, outfitStylesQuery } from "@/lib/vocabulary";
import type { OutfitValues } from "../api/save-outfit";

interface FieldsProps {
  form: UseFormReturn<OutfitValues>;
}

/** Name and texts. */
export function TextFields({ form: { register, formState } }: FieldsProps) {
  const { errors } = formState;
  return (
    <>
      <Field label="Name" error={errors.name?.message}>
        {(attributes) => <Input aria-required {...attributes} {...register("name")} />}
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

interface PictureFieldsProps extends FieldsProps {
  onUploaded: (url: string) => void;
}

/** The main image and its description. */
export function PictureFields({ form, onUploaded }: PictureFieldsProps) {
  const { control, register, formState } = form;
  return (
    <>
      <Controller
        control={control}
        name="main_image"
        render={({ field, fieldState }) => (
          <PictureField
            label="Main image"
            place={picturePlaces.outfit}
            value={field.value}
            error={fieldState.error?.message}
            onChange={field.onChange}
            onBlur={field.onBlur}
            onUploaded={onUploaded}
          />
        )}
      />
      <Field
        label="Image description"
        hint="What the picture shows, for people who cannot see it"
        error={formState.errors.image_alt?.message}
      >
        {(attributes) => <Input {...attributes} {...register("image_alt")} />}
      </Field>
    </>
  );
}

interface GenderFieldProps {
  gender: Gender;
  onChange: (gender: Gender) => void;
}

export function GenderField({ gender, onChange }: GenderFieldProps) {
  return (
    <Field label="Gender">
      {(attributes) => (
        <Select
          {...attributes}
          value={gender}
          onChange={(event) => {
            const next = genders.find((one) => one === event.target.value);
            if (next !== undefined) onChange(next);
          }}
        >
          {genders.map((one) => (
            <option key={one} value={one}>
              {capitalise(one)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

interface IdListProps {
  value: string[];
  onChange: (ids: string[]) => void;
}

export function StylesField({ value, onChange }: IdListProps) {
  const { data: names } = useQuery(outfitStylesQuery());
  return (
    <ChipField
      label="Outfit styles"
      chips={names && [...names].map(([id, name]) => ({ id, name }))}
      loadingText="Loading outfit styles..."
      chosen={value}
      onChange={onChange}
    />
  );
}

export function ColorsField({ value, onChange }: IdListProps) {
  const { data: colors } = useQuery(colorsQuery());
  return (
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
  );
}
