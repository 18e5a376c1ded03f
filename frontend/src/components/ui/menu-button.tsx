import {
  type ComponentProps,
  type ComponentType,
  lazy,
  type ReactElement,
  Suspense,
  useState,
} from "react";

/** A menu that opens as soon as it is rendered, around the button that it belongs to. */
export type MenuOf = ComponentType<{ trigger: ReactElement }>;

/** A menu whose code is not loaded yet. */
export interface LazyMenu {
  Component: MenuOf;
  preload: () => void;
}

export function lazyMenu(load: () => Promise<MenuOf>): LazyMenu {
  const loadModule = async () => ({ default: await load() });
  return {
    Component: lazy(loadModule),
    // Without a network it fails; opening the menu tries again and reports the error.
    preload: () => void loadModule().catch(() => undefined),
  };
}

interface MenuButtonProps extends ComponentProps<"button"> {
  menu: LazyMenu;
}

/**
 * The button of a menu. The library for menus is larger than the rest of the header together, so it is loaded when the pointer
 * or the focus reaches the button, at the latest by the click.
 */
export function MenuButton({ menu, ...button }: MenuButtonProps) {
  const [isWanted, setWanted] = useState(false);
  const plain = <button type="button" aria-haspopup="menu" {...button} />;
  if (isWanted) {
    return (
      <Suspense fallback={plain}>
        <menu.Component trigger={<button type="button" {...button} />} />
      </Suspense>
    );
  }
  return (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded={false}
      {...button}
      onPointerEnter={menu.preload}
      onFocus={menu.preload}
      onClick={() => setWanted(true)}
    />
  );
}
