import { type FieldProps, Field as SharedField } from "@ui/field";

/** A form field in the size of the console's dense controls. */
export function Field(props: Omit<FieldProps, "size">) {
  return <SharedField size="dense" {...props} />;
}
