import { type ComponentProps, type ComponentType, type ReactElement, useState } from "react";
import { LazyCode } from "@/lib/lazy-part";
import { toast } from "@/lib/toast";

/** A menu that opens as soon as it is rendered, around the button that it belongs to. */
export type MenuOf = ComponentType<{ trigger: ReactElement }>;

/** A menu whose code is not loaded yet. */
export type LazyMenu = LazyCode<MenuOf>;

export function lazyMenu(load: () => Promise<MenuOf>): LazyMenu {
  return new LazyCode(load);
}

interface MenuButtonProps extends ComponentProps<"button"> {
  menu: LazyMenu;
}

/**
 * The button of a menu. The library for menus is larger than the rest of the header together, so it is loaded when the pointer
 * or the focus reaches the button, at the latest by the click. Without a network the button stays, and the next click tries again.
 */
export function MenuButton({ menu, ...button }: MenuButtonProps) {
  const [Menu, setMenu] = useState<MenuOf | null>(null);
  if (Menu !== null) return <Menu trigger={<button type="button" {...button} />} />;

  function open() {
    menu.load().then(
      (loaded) => setMenu(() => loaded),
      () =>
        toast(
          "The menu could not be loaded",
          navigator.onLine ? "Please try again." : "You are offline.",
          "danger",
        ),
    );
  }

  const preload = () => void menu.load().catch(() => undefined);
  return (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded={false}
      {...button}
      onPointerEnter={preload}
      onFocus={preload}
      onClick={open}
    />
  );
}
