import { SavingFields } from "@ui/saving-fields";
import { Controller } from "react-hook-form";
import { ConfirmDialog } from "@/components/admin/confirm-dialog";
import { EditDialog } from "@/components/admin/edit-dialog";
import { FormFooter } from "@/components/admin/form-footer";
import type { AdminOutfit } from "../api/outfits";
import { ItemPicker } from "./item-picker";
import { ColorsField, GenderField, PictureFields, StylesField, TextFields } from "./outfit-fields";
import { OvertakenOutfitDialog } from "./overtaken-outfit";
import { useGenderChange } from "./use-gender-change";
import { useOutfitForm } from "./use-outfit-form";

interface OutfitFormProps {
  /** Null for a new outfit. */
  outfit: AdminOutfit | null;
  onClose: () => void;
}

export function OutfitForm({ outfit, onClose }: OutfitFormProps) {
  const { form, submit, isSaving, cancel, onUploaded, overtaken } = useOutfitForm(outfit, onClose);
  const genderChange = useGenderChange(form);
  const { control, formState } = form;
  const gender = form.watch("gender");
  const { question } = genderChange;
  return (
    <EditDialog
      title={outfit === null ? "Add New Outfit Combination" : "Edit Outfit Combination"}
      isDirty={formState.isDirty}
      wide
      onClose={cancel}
    >
      <form noValidate onSubmit={submit} className="flex flex-1 flex-col gap-5">
        <SavingFields isSaving={isSaving} className="flex flex-col gap-5">
          <TextFields form={form} />
          <PictureFields form={form} onUploaded={onUploaded} />
          <GenderField gender={gender} onChange={(next) => void genderChange.change(next)} />
          <Controller
            control={control}
            name="outfit_styles"
            render={({ field }) => <StylesField {...field} />}
          />
          <Controller
            control={control}
            name="colors"
            render={({ field }) => <ColorsField {...field} />}
          />
          <Controller
            control={control}
            name="item_ids"
            render={({ field }) => (
              <ItemPicker gender={gender} chosen={field.value} onChange={field.onChange} />
            )}
          />
        </SavingFields>
        <FormFooter pending={isSaving} />
      </form>
      {overtaken !== null && <OvertakenOutfitDialog overtaken={overtaken} />}
      {question !== null && (
        <ConfirmDialog
          title="Change the gender?"
          text={`${question.lost === 1 ? "1 item does" : `${question.lost} items do`} not fit and will be taken out of the outfit.`}
          action="Change"
          onConfirm={() => genderChange.confirm(question)}
          onCancel={genderChange.cancel}
        />
      )}
    </EditDialog>
  );
}
