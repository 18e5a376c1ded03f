import { useLayoutEffect } from "react";

export type Light = "dark" | "paper";

const themeColor: Record<Light, string> = { dark: "#131110", paper: "#f6f4f0" };

/** Sets the page's light on <html>, so that dialogs, menus and toasts outside the layout share it. */
export function useLight(light: Light): void {
  useLayoutEffect(() => {
    document.documentElement.dataset.light = light;
    document.querySelector('meta[name="theme-color"]')?.setAttribute("content", themeColor[light]);
  }, [light]);
}
