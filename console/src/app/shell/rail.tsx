import { useQueryClient } from "@tanstack/react-query";
import { cn } from "@ui/cn";
import { Keyboard, PanelLeftClose, PanelLeftOpen, Search } from "lucide-react";
import { useState } from "react";
import { NavLink } from "react-router";
import { useSession } from "@/api/session";
import { prepareScreen } from "@/app/screen-modules";
import { screenGroups } from "@/app/screens";
import { MenuButtons } from "@/app/shell/menu-buttons";
import { Kbd } from "@/components/kbd";
import { Text } from "@/components/text";
import { localStore } from "@/lib/browser-storage";

interface RailProps {
  onSearch: () => void;
  onKeys: () => void;
}

const widthKey = "console:rail";

const entry =
  "flex h-8 w-full items-center gap-2.5 rounded-sm px-2.5 text-caption text-ink-soft transition-colors hover:bg-hover hover:text-ink [&_svg]:size-4 [&_svg]:shrink-0";

/** All screens at the left, with their names where there is room. */
export function Rail({ onSearch, onKeys }: RailProps) {
  const { project } = useSession();
  const client = useQueryClient();
  const [isNarrow, setNarrow] = useState(() => localStore.get(widthKey) === "narrow");
  const toggle = () => {
    setNarrow(!isNarrow);
    if (isNarrow) localStore.remove(widthKey);
    else localStore.set(widthKey, "narrow");
  };
  // Names stay for screen readers where only icons are shown.
  const nameClass = isNarrow ? "sr-only" : "truncate max-xl:sr-only";
  return (
    <header
      className={cn(
        "flex shrink-0 flex-col border-line border-r bg-rail max-md:hidden",
        isNarrow ? "w-13" : "w-42 max-xl:w-13",
      )}
    >
      <div className="flex h-11 shrink-0 items-center gap-2.5 px-3.5">
        <Mark />
        <span className={cn("font-medium", nameClass)}>
          <Text>{project.name}</Text>
        </span>
      </div>
      <nav aria-label="Screens" className="flex min-h-0 flex-1 flex-col overflow-y-auto px-1.5">
        <button type="button" className={entry} onClick={onSearch} title="Find">
          <Search aria-hidden="true" strokeWidth={1.7} />
          <span className={cn("flex-1 text-left", nameClass)}>Find</span>
          {!isNarrow && (
            <span aria-hidden="true" className="max-xl:hidden">
              <Kbd keys="mod+k" />
            </span>
          )}
        </button>
        {screenGroups.map((group) => (
          <ul key={group[0]?.path} className="mt-2 border-line border-t pt-2">
            {group.map(({ path, name, icon: Icon }) => (
              <li key={path}>
                <NavLink
                  to={`/${path}`}
                  title={name}
                  onPointerEnter={() => prepareScreen(path, client)}
                  onFocus={() => prepareScreen(path, client)}
                  className={({ isActive }) =>
                    cn(
                      entry,
                      isActive && "bg-raised! font-medium text-ink! shadow-sm [&_svg]:text-accent",
                    )
                  }
                >
                  <Icon aria-hidden="true" strokeWidth={1.7} />
                  <span className={nameClass}>{name}</span>
                </NavLink>
              </li>
            ))}
          </ul>
        ))}
      </nav>
      <div className="grid gap-px p-1.5">
        <MenuButtons entryClass={entry} nameClass={nameClass} />
        <button type="button" className={entry} onClick={onKeys} title="Keys">
          <Keyboard aria-hidden="true" strokeWidth={1.7} />
          <span className={nameClass}>Keys</span>
        </button>
        <button
          type="button"
          className={cn(entry, "max-xl:hidden")}
          onClick={toggle}
          title={isNarrow ? "Widen the rail" : "Narrow the rail"}
        >
          {isNarrow ? (
            <PanelLeftOpen aria-hidden="true" strokeWidth={1.7} />
          ) : (
            <PanelLeftClose aria-hidden="true" strokeWidth={1.7} />
          )}
          <span className={nameClass}>{isNarrow ? "Widen" : "Narrow"}</span>
        </button>
      </div>
    </header>
  );
}

/** The product's mark: two selvedge lines with threads between them. */
function Mark() {
  return (
    <svg aria-hidden="true" viewBox="0 0 24 24" className="size-6 shrink-0">
      <rect width="24" height="24" rx="5.5" className="fill-ink" />
      <path d="M7 6v12M17 6v12" className="stroke-canvas" strokeWidth="2" strokeLinecap="round" />
      <path
        d="M7 8.5l10 3M7 12.5l10 3"
        className="stroke-accent"
        strokeWidth="2"
        strokeLinecap="round"
      />
    </svg>
  );
}
