import { zodResolver } from "@hookform/resolvers/zod";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Controller, useForm } from "react-hook-form";
import { ChipField } from "@/components/admin/chip-field";
import { ConfirmDialog } from "@/components/admin/confirm-dialog";
import { Select, TextArea } from "@/components/admin/controls";
import { EditDialog } from "@/components/admin/edit-dialog";
import { FormFooter } from "@/components/admin/form-footer";
import { PictureField } from "@/components/admin/picture-field";
import { useFormPictures } from "@/components/admin/use-form-pictures";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { itemsByIdQuery } from "@/lib/admin-items";
import { picturePlaces } from "@/lib/admin-pictures";
import type { Gender } from "@/lib/database";
import { capitalise } from "@/lib/format";
import { genders } from "@/lib/genders";
import { useSession } from "@/lib/session";
import { toast } from "@/lib/toast";
import { colorsQuery, outfitStylesQuery } from "@/lib/vocabulary";
import type { AdminOutfit } from "../api/outfits";
import { type OutfitValues, outfitSchema, toOutfitValues, useSaveOutfit } from "../api/save-outfit";
import { ItemPicker } from "./item-picker";

interface OutfitFormProps {
  /** Null for a new outfit. */
  outfit: AdminOutfit | null;
  onClose: () => void;
}

/** A change of the gender that would take items out of the outfit. */
interface GenderChange {
  gender: Gender;
  /** Ids of the items that also fit the new gender. */
  kept: string[];
  lost: number;
}

export function OutfitForm({ outfit, onClose }: OutfitFormProps) {
  const { user } = useSession();
  const queryClient = useQueryClient();
  const save = useSaveOutfit();
  const pictures = useFormPictures([outfit?.main_image]);
  const [genderChange, setGenderChange] = useState<GenderChange | null>(null);
  const form = useForm<OutfitValues>({
    resolver: zodResolver(outfitSchema),
    mode: "onTouched",
    defaultValues: toOutfitValues(outfit),
  });
  const { control, register, setValue, formState } = form;
  const { errors } = formState;
  const gender = form.watch("gender");

  async function changeGender(next: Gender) {
    const chosen = form.getValues("item_ids");
    // Which items fit is read again, because the outfit's list holds ids only.
    const items = await queryClient.fetchQuery(itemsByIdQuery(chosen)).catch(() => null);
    if (items === null) {
      toast("Error", "The items could not be checked. Please try again.", "danger");
      return;
    }
    const kept = items
      .filter((item) => next === "unisex" || item.gender === next || item.gender === "unisex")
      .map(({ id }) => id);
    if (kept.length === chosen.length) setValue("gender", next, { shouldDirty: true });
    else setGenderChange({ gender: next, kept, lost: chosen.length - kept.length });
  }

  function confirmGender({ gender: next, kept }: GenderChange) {
    setValue("gender", next, { shouldDirty: true });
    setValue("item_ids", kept, { shouldDirty: true });
    setGenderChange(null);
  }

  const submit = form.handleSubmit((values) =>
    save
      .mutateAsync({ id: outfit?.id ?? null, values, userId: user?.id ?? "" })
      .then(() => {
        pictures.keepOnly([values.main_image]);
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
      title={outfit === null ? "Add New Outfit Combination" : "Edit Outfit Combination"}
      isDirty={formState.isDirty}
      wide
      onClose={cancel}
    >
      <form noValidate onSubmit={submit} className="flex flex-1 flex-col gap-5">
        <Field label="Name" error={errors.name?.message}>
          {(attributes) => <Input {...attributes} {...register("name")} />}
        </Field>
        <Field label="Description" error={errors.description?.message}>
          {(attributes) => <TextArea {...attributes} {...register("description")} />}
        </Field>
        <Field label="Meta description" error={errors.meta_description?.message}>
          {(attributes) => <TextArea rows={2} {...attributes} {...register("meta_description")} />}
        </Field>
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
              onUploaded={pictures.rememberUpload}
            />
          )}
        />
        <Field
          label="Image description"
          hint="What the picture shows, for people who cannot see it"
          error={errors.image_alt?.message}
        >
          {(attributes) => <Input {...attributes} {...register("image_alt")} />}
        </Field>
        <Field label="Gender">
          {(attributes) => (
            <Select
              {...attributes}
              value={gender}
              onChange={(event) => {
                const next = genders.find((one) => one === event.target.value);
                if (next !== undefined) void changeGender(next);
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
        <Controller
          control={control}
          name="outfit_styles"
          render={({ field }) => <Styles {...field} />}
        />
        <Controller control={control} name="colors" render={({ field }) => <Colors {...field} />} />
        <Controller
          control={control}
          name="item_ids"
          render={({ field }) => (
            <ItemPicker gender={gender} chosen={field.value} onChange={field.onChange} />
          )}
        />
        <FormFooter pending={formState.isSubmitting} onCancel={cancel} />
      </form>
      {genderChange !== null && (
        <ConfirmDialog
          title="Change the gender?"
          text={`${genderChange.lost === 1 ? "1 item does" : `${genderChange.lost} items do`} not fit and will be taken out of the outfit.`}
          action="Change"
          onConfirm={() => confirmGender(genderChange)}
          onCancel={() => setGenderChange(null)}
        />
      )}
    </EditDialog>
  );
}

interface IdListProps {
  value: string[];
  onChange: (ids: string[]) => void;
}

function Styles({ value, onChange }: IdListProps) {
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

function Colors({ value, onChange }: IdListProps) {
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
