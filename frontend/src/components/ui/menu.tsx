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
  children: ReactNode;
}

/**
 * Dropdown menu around its button, open from the start: its code is loaded by the click that opens it (`MenuButton`). Not modal:
 * the page behind can still be scrolled and clicked.
 */
export function Menu({ trigger, children }: MenuProps) {
  return (
    <DropdownMenu.Root modal={false} defaultOpen>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      {children}
    </DropdownMenu.Root>
  );
}

const itemClasses =
  "flex min-h-11 cursor-pointer items-center gap-3 rounded-sm px-3 py-2 text-small text-ink outline-none select-none data-[disabled]:cursor-default data-[highlighted]:bg-sheen [&_svg]:size-4 [&_svg]:text-ink-soft";

interface MenuContentProps extends Omit<ComponentProps<typeof DropdownMenu.Content>, "className"> {
  /** Name of the landmark around the menu. */
  label: string;
  narrow?: boolean;
}

/** The panel of a menu in the site's look. */
export function MenuContent({ narrow = false, ...rest }: MenuContentProps) {
  return (
    <MenuPanel
      landmarkClassName="menu-landmark"
      sideOffset={8}
      align="end"
      collisionPadding={12}
      className={cn(
        "panel-in z-50 origin-(--radix-dropdown-menu-content-transform-origin) rounded-md border border-line bg-raised p-1.5 text-ink shadow-raised",
        // A long name must not make it wider than a phone.
        "max-w-[min(20rem,calc(100vw-1.5rem))] [overflow-wrap:anywhere]",
        narrow ? "min-w-48" : "min-w-60",
      )}
      {...rest}
    />
  );
}

export function MenuItem(props: Omit<ComponentProps<typeof DropdownMenu.Item>, "className">) {
  return <DropdownMenu.Item className={itemClasses} {...props} />;
}

const toggleClasses = {
  className: itemClasses,
  labelClassName: "flex-1",
  markClassName: "text-accent!",
};

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

/** Text in a menu that cannot be chosen. */
export function MenuText({ children }: { children: ReactNode }) {
  return <div className="flex items-center gap-3 px-3 py-2.5 text-small">{children}</div>;
}

export function MenuHeading({ children }: { children: ReactNode }) {
  return (
    <DropdownMenu.Label className="px-3 pt-2 pb-1 font-serif text-name">
      {children}
    </DropdownMenu.Label>
  );
}

export function MenuSeparator() {
  return <DropdownMenu.Separator className="mx-3 my-1.5 h-px bg-line" />;
}
