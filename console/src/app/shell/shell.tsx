import { useEffect, useState } from "react";
import { useLocation, useNavigate } from "react-router";
import { useCatalog } from "@/api/catalog";
import { useSession } from "@/api/session";
import { loadScreensWhenIdle } from "@/app/screen-modules";
import { ScreenRoutes } from "@/app/screen-routes";
import { screens } from "@/app/screens";
import { DiskBar } from "@/app/shell/disk-bar";
import { OfflineBar } from "@/app/shell/offline-bar";
import { OtherProjectBar } from "@/app/shell/other-project-bar";
import { PhoneBar } from "@/app/shell/phone-bar";
import { Rail } from "@/app/shell/rail";
import { Text } from "@/components/text";
import { lazyModule, useOptionalModule } from "@/lib/lazy-module";
import { registerShortcut, useShortcut } from "@/lib/shortcuts";

/** Puts the focus into the search field of the shown list; screens mark it by `data-search`. */
function focusSearch(): void {
  const fields = document.querySelectorAll<HTMLInputElement>("input[data-search]");
  const visible = [...fields].find((field) => field.offsetParent !== null);
  visible?.focus();
  visible?.select();
}

// Scripts of their own, because the first paint does not need them. They are loaded soon after it: letters that are typed before
// the palette is there would be lost.
const palette = lazyModule(() => import("@/app/shell/command-palette"));
const keyList = lazyModule(() => import("@/app/shell/key-list"));

/** The frame around every screen: rail, bars, command palette, list of keyboard shortcuts. */
export function Shell() {
  const session = useSession();
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const [areKeysShown, setKeysShown] = useState(false);
  useCatalog();
  useEffect(loadScreensWhenIdle, []);
  const loadedPalette = useOptionalModule(palette, isPaletteOpen ? "now" : "idle");
  const loadedKeys = useOptionalModule(keyList, areKeysShown ? "now" : "idle");
  useShortcut({
    keys: "mod+k",
    label: "Find a screen, table or action",
    group: "Everywhere",
    inFields: true,
    inDialogs: true,
    run: () => setPaletteOpen((isOpen) => !isOpen),
  });
  useShortcut({
    keys: "?",
    label: "Show the keys",
    group: "Everywhere",
    run: () => setKeysShown(true),
  });
  useShortcut({
    keys: "/",
    label: "Search the list",
    group: "Everywhere",
    run: focusSearch,
  });
  useEffect(() => {
    const undo = screens.map(({ key, name, path }) =>
      registerShortcut({
        keys: `g ${key}`,
        label: name,
        group: "Go to",
        run: () => void navigate(`/${path}`),
      }),
    );
    return () => {
      for (const unregister of undo) unregister();
    };
  }, [navigate]);
  const current = screens.find(({ path }) => pathname.split("/")[1] === path);
  useEffect(() => {
    document.title = `${current === undefined ? "" : `${current.name} · `}${session.project.name}`;
  }, [current, session.project.name]);
  return (
    <div className="flex h-full flex-col">
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a part of the page, and screen readers list it among the links. */}
      <a
        href="#work"
        onClick={(event) => {
          // A step to a fragment would be an entry of the history that the router knows nothing of.
          event.preventDefault();
          document.getElementById("work")?.focus();
        }}
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-raised focus:p-2"
      >
        Skip to the work area
      </a>
      {session.mode === "serve" && (
        <div className="flex h-6 shrink-0 items-center justify-center gap-2 bg-production font-medium text-label text-on-production">
          <span className="truncate">
            <Text>{session.project.name}</Text>
          </span>
          <span className="shrink-0 font-normal opacity-90">served data</span>
        </div>
      )}
      <OfflineBar />
      <DiskBar />
      <OtherProjectBar />
      <PhoneBar screen={current} onSearch={() => setPaletteOpen(true)} />
      <div className="flex min-h-0 flex-1">
        <Rail onSearch={() => setPaletteOpen(true)} onKeys={() => setKeysShown(true)} />
        <div id="work" tabIndex={-1} className="min-h-0 min-w-0 flex-1 outline-none">
          <ScreenRoutes />
        </div>
      </div>
      {isPaletteOpen && loadedPalette !== undefined && (
        <loadedPalette.CommandPalette onClose={() => setPaletteOpen(false)} />
      )}
      {areKeysShown && loadedKeys !== undefined && (
        <loadedKeys.KeyList onClose={() => setKeysShown(false)} />
      )}
    </div>
  );
}
