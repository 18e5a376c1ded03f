import { Check } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ComponentProps } from "react";

type ToggleProps<Item> = Omit<Item, "className"> & {
  className: string;
  /** The label grows to the mark's edge; some menus also cut long labels off. */
  labelClassName: string;
  /** The colour of the mark at an entry that is on. */
  markClassName?: string | undefined;
};

/** A menu entry that can be on or off. Choosing it keeps the menu open, because several are often changed together. */
export function MenuCheckboxItem({
  children,
  labelClassName,
  markClassName,
  ...rest
}: ToggleProps<ComponentProps<typeof DropdownMenu.CheckboxItem>>) {
  return (
    <DropdownMenu.CheckboxItem onSelect={(event) => event.preventDefault()} {...rest}>
      <span className={labelClassName}>{children}</span>
      <CheckMark className={markClassName} />
    </DropdownMenu.CheckboxItem>
  );
}

/** A menu entry of which one in its group is chosen. */
export function MenuRadioItem({
  children,
  labelClassName,
  markClassName,
  ...rest
}: ToggleProps<ComponentProps<typeof DropdownMenu.RadioItem>>) {
  return (
    <DropdownMenu.RadioItem {...rest}>
      <span className={labelClassName}>{children}</span>
      <CheckMark className={markClassName} />
    </DropdownMenu.RadioItem>
  );
}

function CheckMark({ className }: { className: string | undefined }) {
  return (
    <DropdownMenu.ItemIndicator>
      <Check aria-hidden="true" className={className} />
    </DropdownMenu.ItemIndicator>
  );
}

type MenuPanelProps = ComponentProps<typeof DropdownMenu.Content> & {
  /** Name of the landmark around the menu. */
  label: string;
  landmarkClassName?: string;
};

/**
 * The panel of a menu. It is rendered at the end of the body, outside of the page's landmarks, so it is one itself: people who go
 * from landmark to landmark would otherwise never come past it.
 */
export function MenuPanel({ label, landmarkClassName, ...rest }: MenuPanelProps) {
  return (
    <DropdownMenu.Portal>
      <section aria-label={label} className={landmarkClassName}>
        <DropdownMenu.Content {...rest} />
      </section>
    </DropdownMenu.Portal>
  );
}
