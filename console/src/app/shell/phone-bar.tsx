import { cn } from "@ui/cn";
import { IconButton } from "@ui/icon-button";
import { Menu as MenuIcon, Search } from "lucide-react";
import { useState } from "react";
import { NavLink } from "react-router";
import { useSession } from "@/api/session";
import { type Screen, screens } from "@/app/screens";
import { AccountMenu } from "@/app/shell/account-menu";
import { ThemeMenu } from "@/app/shell/rail";
import { Dialog } from "@/components/dialog";
import { Text } from "@/components/text";

interface PhoneBarProps {
  screen: Screen | undefined;
  onSearch: () => void;
}

/** The upper bar on phones: the menu of screens, the name of the present one, and the search. */
export function PhoneBar({ screen, onSearch }: PhoneBarProps) {
  const { project } = useSession();
  const [isOpen, setOpen] = useState(false);
  return (
    <header className="flex h-12 shrink-0 items-center gap-1 border-line border-b bg-rail px-1 md:hidden">
      <IconButton label="Screens" onClick={() => setOpen(true)}>
        <MenuIcon className="size-5" />
      </IconButton>
      <span className="min-w-0 flex-1 truncate font-medium text-small">
        {screen?.name ?? <Text>{project.name}</Text>}
      </span>
      <IconButton label="Find" onClick={onSearch}>
        <Search className="size-5" />
      </IconButton>
      {isOpen && (
        <Dialog title={<Text>{project.name}</Text>} onClose={() => setOpen(false)}>
          <nav aria-label="Screens">
            <ul className="grid grid-cols-2 gap-2">
              {screens.map(({ path, name, icon: Icon }) => (
                <li key={path}>
                  <NavLink
                    to={`/${path}`}
                    onClick={() => setOpen(false)}
                    className={({ isActive }) =>
                      cn(
                        "flex h-12 items-center gap-3 rounded-sm border border-line px-3 text-small",
                        isActive && "border-accent",
                      )
                    }
                  >
                    <Icon aria-hidden="true" className="size-4.5 text-ink-soft" strokeWidth={1.7} />
                    {name}
                  </NavLink>
                </li>
              ))}
            </ul>
          </nav>
          <div className="mt-4 grid gap-1 border-line border-t pt-3">
            <AccountMenu
              entryClass="flex h-11 items-center gap-3 px-1 [&_svg]:size-4.5"
              nameClass=""
            />
            <ThemeMenu nameClass="" />
          </div>
        </Dialog>
      )}
    </header>
  );
}
