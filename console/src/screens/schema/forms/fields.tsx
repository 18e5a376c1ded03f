/** The fields that the forms about the schema share. */
import { Field } from "@/components/field";
import { Input, Select } from "@/components/input";
import { findExpressionFault } from "@/lib/sql/ddl/expression";

interface NameFieldProps {
  value: string;
  onChange: (name: string) => void;
  /** The name that is taken when none is written. */
  suggested?: string;
  autoFocus?: boolean;
}

/** The field for an object's name. */
export function NameField({ value, onChange, suggested, autoFocus = false }: NameFieldProps) {
  return (
    <Field label="Name">
      {(attributes) => (
        <Input
          {...attributes}
          mono
          autoFocus={autoFocus}
          placeholder={suggested}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

interface OptionFieldProps<T extends string> {
  label: string;
  options: readonly T[];
  value: T;
  onChange: (option: T) => void;
}

/** A field with a few SQL keywords to choose from. */
export function OptionField<T extends string>({
  label,
  options,
  value,
  onChange,
}: OptionFieldProps<T>) {
  return (
    <Field label={label}>
      {(attributes) => (
        <Select
          {...attributes}
          value={value}
          onChange={(event) => {
            const option = options.find((each) => each === event.target.value);
            if (option !== undefined) onChange(option);
          }}
        >
          {options.map((option) => (
            <option key={option}>{option}</option>
          ))}
        </Select>
      )}
    </Field>
  );
}

interface ExpressionFieldProps {
  label: string;
  hint: string;
  value: string;
  disabled?: boolean;
  onChange: (expression: string) => void;
}

/** An expression on one line. What would end it early is shown as a fault, so that it stays one expression. */
export function ExpressionField({
  label,
  hint,
  value,
  disabled = false,
  onChange,
}: ExpressionFieldProps) {
  return (
    <Field label={label} hint={hint} error={findExpressionFault(value) ?? undefined}>
      {(attributes) => (
        <Input
          {...attributes}
          mono
          disabled={disabled}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

/** A remark that PostgreSQL keeps with the object. */
export function CommentField({
  value,
  onChange,
}: {
  value: string;
  onChange: (comment: string) => void;
}) {
  return (
    <Field label="Comment">
      {(attributes) => (
        <Input {...attributes} value={value} onChange={(event) => onChange(event.target.value)} />
      )}
    </Field>
  );
}
