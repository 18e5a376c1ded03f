import { cn } from "@ui/cn";
import { Check } from "lucide-react";
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

/**
 * The panel of a menu. It is rendered at the end of the body, outside of the page's landmarks, so it is one itself: people who go
 * from landmark to landmark would otherwise never come past it.
 */
export function MenuContent({
  label,
  narrow = false,
  sideOffset = 8,
  align = "end",
  ...rest
}: MenuContentProps) {
  return (
    <DropdownMenu.Portal>
      <section aria-label={label} className="menu-landmark">
        <DropdownMenu.Content
          sideOffset={sideOffset}
          align={align}
          collisionPadding={12}
          className={cn(
            "panel-in z-50 origin-(--radix-dropdown-menu-content-transform-origin) rounded-md border border-line bg-raised p-1.5 text-ink shadow-raised",
            narrow ? "min-w-48" : "min-w-60",
          )}
          {...rest}
        />
      </section>
    </DropdownMenu.Portal>
  );
}

export function MenuItem(props: Omit<ComponentProps<typeof DropdownMenu.Item>, "className">) {
  return <DropdownMenu.Item className={itemClasses} {...props} />;
}

/** Menu entry that can be on or off. Choosing it keeps the menu open. */
export function MenuCheckboxItem({
  children,
  ...rest
}: Omit<ComponentProps<typeof DropdownMenu.CheckboxItem>, "className">) {
  return (
    <DropdownMenu.CheckboxItem
      className={itemClasses}
      onSelect={(event) => event.preventDefault()}
      {...rest}
    >
      <span className="flex-1">{children}</span>
      <ItemCheck />
    </DropdownMenu.CheckboxItem>
  );
}

export const MenuRadioGroup = DropdownMenu.RadioGroup;

/** Menu entry of which one in the group is chosen. */
export function MenuRadioItem({
  children,
  ...rest
}: Omit<ComponentProps<typeof DropdownMenu.RadioItem>, "className">) {
  return (
    <DropdownMenu.RadioItem className={itemClasses} {...rest}>
      <span className="flex-1">{children}</span>
      <ItemCheck />
    </DropdownMenu.RadioItem>
  );
}

function ItemCheck() {
  return (
    <DropdownMenu.ItemIndicator>
      <Check className="text-accent!" />
    </DropdownMenu.ItemIndicator>
  );
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
