import { SavingFields } from "@ui/saving-fields";
import { Controller } from "react-hook-form";
import { EditDialog } from "@/components/admin/edit-dialog";
import { FormFooter } from "@/components/admin/form-footer";
import { PictureField } from "@/components/admin/picture-field";
import { picturePlaces } from "@/lib/admin-pictures";
import { Classification } from "./classification";
import { ImportProduct } from "./import-product";
import { ColorsField, MainFields, productImportArea, TextFields } from "./item-fields";
import { OvertakenItemDialog } from "./overtaken-item";
import { type ItemFormProps, useItemForm } from "./use-item-form";

export function ItemForm(props: ItemFormProps) {
  const { item } = props;
  const { form, submit, isSaving, cancel, onUploaded, overtaken, fillIn } = useItemForm(props);
  const { control, formState } = form;
  return (
    <EditDialog
      title={item === null ? "Add Item" : "Edit Item"}
      isDirty={formState.isDirty}
      wide
      onClose={cancel}
    >
      <form noValidate onSubmit={submit} className="flex flex-1 flex-col gap-5">
        <SavingFields isSaving={isSaving} className="flex flex-col gap-5">
          {item === null && (
            <div {...productImportArea} className="contents">
              <ImportProduct onUploaded={onUploaded} onUse={fillIn} />
            </div>
          )}
          <MainFields form={form} />
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
                onUploaded={onUploaded}
              />
            )}
          />
          <TextFields form={form} />
          <Controller
            control={control}
            name="colors"
            render={({ field }) => <ColorsField {...field} />}
          />
        </SavingFields>
        <FormFooter pending={isSaving} hasAnother={props.onAnother !== undefined} />
      </form>
      {overtaken !== null && <OvertakenItemDialog overtaken={overtaken} />}
    </EditDialog>
  );
}
