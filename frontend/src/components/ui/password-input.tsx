import { Eye, EyeOff } from "lucide-react";
import { type ComponentProps, useState } from "react";
import { Input } from "./input";

/** Password input with a button that reveals what was typed. */
export function PasswordInput(props: Omit<ComponentProps<typeof Input>, "type" | "trailing">) {
  const [visible, setVisible] = useState(false);
  return (
    <div className="relative">
      <Input {...props} type={visible ? "text" : "password"} trailing />
      <button
        type="button"
        aria-label={visible ? "Hide password" : "Show password"}
        onClick={() => setVisible(!visible)}
        className="absolute top-0.5 right-1 inline-flex size-11 items-center justify-center rounded-full text-ink-soft hover:text-ink"
      >
        {visible ? (
          <EyeOff className="size-4.5" strokeWidth={1.6} />
        ) : (
          <Eye className="size-4.5" strokeWidth={1.6} />
        )}
      </button>
    </div>
  );
}
