import { CheckboxField } from "@/components/checkbox-field";
import { Field } from "@/components/field";
import { Input, Select } from "@/components/input";
import type { FileEncoding, FileForm } from "./read-file";

const delimiters: readonly (readonly [value: string, label: string])[] = [
  [",", "Comma ,"],
  [";", "Semicolon ;"],
  ["\t", "Tab"],
  ["|", "Bar |"],
];

const encodings: readonly (readonly [value: FileEncoding, label: string])[] = [
  ["utf-8", "UTF-8"],
  ["utf-16", "UTF-16"],
  ["windows-1252", "Windows-1252"],
];

interface FileFormFieldsProps {
  form: FileForm;
  nullText: string;
  leavesOut: boolean;
  disabled: boolean;
  onForm: (changes: Partial<FileForm>) => void;
  onNullText: (text: string) => void;
  onLeavesOut: (leavesOut: boolean) => void;
}

/** Fields for the file's encoding, delimiter and titles, filled with what was detected. */
export function FileFormFields(props: FileFormFieldsProps) {
  const { form, disabled } = props;
  const isKnown = delimiters.some(([value]) => value === form.delimiter);
  return (
    <div className="grid gap-3">
      <div className="grid gap-3 sm:grid-cols-3">
        <Field label="Delimiter">
          {(attributes) => (
            <Select
              {...attributes}
              disabled={disabled}
              value={form.delimiter}
              onChange={(event) => props.onForm({ delimiter: event.target.value })}
            >
              {!isKnown && <option value={form.delimiter}>{form.delimiter}</option>}
              {delimiters.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="Encoding">
          {(attributes) => (
            <Select
              {...attributes}
              disabled={disabled}
              value={form.encoding}
              onChange={(event) => props.onForm({ encoding: event.target.value as FileEncoding })}
            >
              {encodings.map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="Text that means null">
          {(attributes) => (
            <Input
              {...attributes}
              mono
              disabled={disabled}
              placeholder="nothing at all"
              value={props.nullText}
              onChange={(event) => props.onNullText(event.target.value)}
            />
          )}
        </Field>
      </div>
      <div className="flex flex-wrap gap-x-6 gap-y-2">
        <CheckboxField
          label="The first line has titles"
          checked={form.hasTitles}
          disabled={disabled}
          onChange={(hasTitles) => props.onForm({ hasTitles })}
        />
        <CheckboxField
          label="Leave faulty rows out, and list them"
          checked={props.leavesOut}
          disabled={disabled}
          onChange={props.onLeavesOut}
        />
      </div>
    </div>
  );
}
