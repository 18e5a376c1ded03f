import { isEnter } from "@ui/keys";
import { useOnLeave } from "@ui/use-on-leave";
import { type ComponentProps, useState } from "react";
import { Input } from "@/components/input";

interface AppliedInputProps extends Omit<ComponentProps<typeof Input>, "value" | "onChange"> {
  /** The value that is in effect. When it changes, it replaces what was typed. */
  applied: string;
  onApply: (text: string) => void;
}

/** A field that takes effect on Enter, when it is left, and when it is removed while it has the focus. */
export function AppliedInput({ applied, onApply, ...rest }: AppliedInputProps) {
  const [text, setText] = useState(applied);
  const [known, setKnown] = useState(applied);
  if (known !== applied) {
    setKnown(applied);
    setText(applied);
  }
  function apply(): void {
    if (text !== applied) onApply(text);
  }
  useOnLeave(apply);
  return (
    <Input
      {...rest}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onBlur={apply}
      onKeyDown={(event) => {
        if (isEnter(event)) apply();
      }}
    />
  );
}
