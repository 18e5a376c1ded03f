import { cn } from "@ui/cn";
import {
  MenuPanel,
  MenuCheckboxItem as SharedCheckboxItem,
  MenuRadioItem as SharedRadioItem,
} from "@ui/menu-items";
import { DropdownMenu } from "radix-ui";
import type { ComponentProps, ReactElement, ReactNode } from "react";

interface MenuProps {
  trigger: ReactElement;
  /** Accessible name of the menu. */
  label: string;
  align?: "start" | "end";
  isOpenAtFirst?: boolean;
  children: ReactNode;
}

const itemClasses =
  "flex min-h-8 pointer-coarse:min-h-11 cursor-pointer items-center gap-2.5 rounded-[4px] px-2 text-caption outline-none select-none data-[disabled]:cursor-default data-[disabled]:opacity-50 data-[highlighted]:bg-hover [&_svg]:size-3.5 [&_svg]:shrink-0 [&_svg]:text-ink-soft";

/** A menu that opens at its button. Not modal: the page behind can still be scrolled. */
export function Menu({
  trigger,
  label,
  align = "end",
  isOpenAtFirst = false,
  children,
}: MenuProps) {
  return (
    <DropdownMenu.Root modal={false} defaultOpen={isOpenAtFirst}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <MenuPanel
        label={label}
        sideOffset={4}
        align={align}
        collisionPadding={8}
        className="panel-in z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-44 overflow-y-auto rounded-md border border-line bg-raised p-1 shadow-raised"
      >
        {children}
      </MenuPanel>
    </DropdownMenu.Root>
  );
}

interface MenuItemProps extends Omit<ComponentProps<typeof DropdownMenu.Item>, "className"> {
  danger?: boolean;
}

export function MenuItem({ danger = false, ...rest }: MenuItemProps) {
  return (
    <DropdownMenu.Item
      className={cn(itemClasses, danger && "text-danger [&_svg]:text-danger")}
      {...rest}
    />
  );
}

const toggleClasses = { className: itemClasses, labelClassName: "min-w-0 flex-1 truncate" };

export function MenuCheckboxItem(
  props: Omit<ComponentProps<typeof DropdownMenu.CheckboxItem>, "className">,
) {
  return <SharedCheckboxItem {...toggleClasses} {...props} />;
}

export const MenuRadioGroup = DropdownMenu.RadioGroup;

export function MenuRadioItem(
  props: Omit<ComponentProps<typeof DropdownMenu.RadioItem>, "className">,
) {
  return <SharedRadioItem {...toggleClasses} {...props} />;
}

export function MenuHeading({ children }: { children: ReactNode }) {
  return (
    <DropdownMenu.Label className="px-2 pt-1.5 pb-1 text-label text-ink-soft">
      {children}
    </DropdownMenu.Label>
  );
}

export function MenuSeparator() {
  return <DropdownMenu.Separator className="my-1 h-px bg-line" />;
}
